import type { Store } from "bursar";

/** So many are looked at for those that are wanted, and to count what follows. */
export const MOST_SEEN = 10_000;

interface Wanted {
  readonly status: string | undefined;
  readonly session: string | undefined;
  readonly children: boolean;
  readonly before: string | undefined;
  readonly most: number;
}

interface LatestIds {
  readonly ids: readonly string[];
  /** How many follow that are wanted too; null where that would mean to look through all that the store has. */
  readonly more: number | null;
  /** Where to go on from; null where nothing follows. */
  readonly next: string | null;
}

/** The ids of the latest runs that are wanted. However many a store has, only so many are looked at. */
export async function latestIds(store: Store, { status, session, children, before, most }: Wanted): Promise<LatestIds> {
  const ids: string[] = [];
  let [seen, more, last] = [0, 0, ""];
  const only = ["parent", "session"];
  for await (const { id, body } of store.latest("run", { status, before, limit: MOST_SEEN + 1, only })) {
    if (++seen > MOST_SEEN) return { ids, more: null, next: ids.length < most ? last : (ids.at(-1) ?? last) };
    last = id;
    if ((body.parent !== null && !children) || (session !== undefined && body.session !== session)) continue;
    if (ids.length < most) ids.push(id);
    else more++;
  }
  return { ids, more, next: more === 0 ? null : (ids.at(-1) ?? null) };
}
