import type { Document } from "../core/document.js";
import type { Store } from "../ports/store.js";
import { isInterrupted } from "../runs/claim.js";
import { type RunStatus, UNENDED } from "../runs/record.js";
import type { Touched } from "./touched.js";

/** What has changed in a store. */
export interface Changed {
  readonly runs: readonly string[];
  readonly approvals: readonly string[];
}

/** So many of each status are looked at, the latest; and so many of any status, because some end before they are seen. */
const MOST_ACTIVE = 500;
const MOST_RECENT = 20;
/** Of so many runs the chain is looked at too: a step that is taken changes nothing else. */
const MOST_CHAINS = 200;
/** Between two looks no more than this is noted; what is forgotten is told a second time. */
const MOST_NOTED = 10_000;

/** The statuses in which something can still change. */
const ACTIVE = { run: UNENDED, approval: ["pending"] } as const;
type Kind = keyof typeof ACTIVE;

/** What was seen of a run or an approval. */
interface Seen {
  readonly version: number;
  readonly isActive: boolean;
  /** How far the chain of a run went; null when nobody looked. */
  readonly seq: number | null;
  /** Whether it runs by name only: a worker that is gone writes nothing, and still something has changed. */
  readonly isSilent: boolean;
}

/** The same with what is needed to look further. */
interface Found extends Seen {
  readonly status: string;
  readonly budget: string | null;
}

/** What was seen of the runs and approvals of a store, so that the next look can tell what has changed. */
export class Activity {
  /** Whether nobody has looked yet. */
  isNew = true;
  private readonly store: Store;
  private known: Readonly<Record<Kind, Map<string, Seen>>> = { run: new Map(), approval: new Map() };
  /** What is written here while somebody looks: what he sees may be older. */
  private meanwhile: Touched[] | null = null;

  constructor(store: Store) {
    this.store = store;
  }

  /** Takes note of what was written here, so that the next look does not tell it again. */
  note(touched: Touched): void {
    this.meanwhile?.push(touched);
    keep(touched, this.known);
    for (const map of [this.known.run, this.known.approval]) {
      for (const id of map.keys()) if (map.size > MOST_NOTED) map.delete(id);
    }
  }

  /** Tells what has changed since the last look, apart from what was noted. */
  async look(): Promise<Changed> {
    this.meanwhile = [];
    try {
      const [run, approval] = await Promise.all([this.seenRuns(), this.seen("approval")]);
      const changed = { runs: changes(this.known.run, run), approvals: changes(this.known.approval, approval) };
      this.known = { run, approval };
      this.isNew = false;
      for (const touched of this.meanwhile) keep(touched, this.known);
      return changed;
    } finally {
      this.meanwhile = null;
    }
  }

  private async seenRuns(): Promise<Map<string, Seen>> {
    const runs = await this.seen("run");
    const moving = [...runs].filter(([, { isActive }]) => isActive);
    const watched = await Promise.all(moving.slice(0, MOST_CHAINS).map(([id, found]) => this.watched(id, found)));
    return new Map<string, Seen>([...runs, ...watched]);
  }

  private async watched(id: string, found: Found): Promise<[string, Seen]> {
    const [head, isSilent] = await Promise.all([
      found.budget === null ? null : this.store.head(found.budget),
      isInterrupted(this.store, { id, status: found.status as RunStatus }),
    ]);
    return [id, { ...found, seq: head?.seq ?? null, isSilent }];
  }

  private async seen(kind: Kind): Promise<Map<string, Found>> {
    const statuses: readonly (string | undefined)[] = [...ACTIVE[kind], undefined];
    const pages = statuses.map(async (status) => {
      const page: Document[] = [];
      const limit = status === undefined ? MOST_RECENT : MOST_ACTIVE;
      for await (const document of this.store.latest(kind, { status, limit, only: [] })) page.push(document);
      return page;
    });
    const found = (await Promise.all(pages)).flat();
    return new Map(found.map((each) => [each.id, { ...seenIn(each), status: each.status, budget: each.budget }]));
  }
}

function seenIn({ kind, status, version }: Document): Seen {
  const active: readonly string[] = ACTIVE[kind as Kind];
  return { version, isActive: active.includes(status), seq: null, isSilent: false };
}

/** Puts in what is newer than what was seen. */
function keep({ documents, chains }: Touched, known: Readonly<Record<Kind, Map<string, Seen>>>): void {
  for (const document of documents) {
    const map = known[document.kind as Kind];
    const before = map.get(document.id);
    if (before !== undefined && before.version >= document.version) continue;
    map.set(document.id, { ...seenIn(document), seq: before?.seq ?? null });
  }
  for (const [chain, seq] of chains) {
    const before = known.run.get(chain);
    if (before !== undefined) known.run.set(chain, { ...before, seq: Math.max(seq, before.seq ?? seq) });
  }
}

/** What is new, what is newer, and what is no longer among those that can change. */
function changes(before: ReadonlyMap<string, Seen>, now: ReadonlyMap<string, Seen>): readonly string[] {
  const gone = [...before].filter(([id, { isActive }]) => isActive && !now.has(id)).map(([id]) => id);
  const newer = [...now].filter(([id, seen]) => isNewer(seen, before.get(id))).map(([id]) => id);
  return [...newer, ...gone];
}

function isNewer({ version, seq, isSilent }: Seen, before: Seen | undefined): boolean {
  if (before === undefined || version > before.version || isSilent !== before.isSilent) return true;
  return seq !== null && before.seq !== null && seq > before.seq;
}
