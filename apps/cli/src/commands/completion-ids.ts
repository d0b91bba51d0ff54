import type { DocumentKind, Store } from "bursar";
import { SERVER_CHAIN } from "bursar/server";
import { knownBudgets } from "../app/store/find-budget.js";
import type { Given } from "../arguments/run-flags.js";
import type { Terminal } from "../terminal/terminal.js";
import { openPlace } from "./common/place.js";
import type { Wanted } from "./completion-table.js";

type IdKind = Exclude<Wanted, "files">;

/** So many are offered: nobody reads more of them at a prompt. */
const MOST = 200;
/** Whoever has pressed Tab does not wait longer than this. */
const PATIENCE_MS = 2000;

const SOURCES: Readonly<Record<IdKind, readonly (readonly [kind: DocumentKind, status: string | undefined])[]>> = {
  runs: [["run", undefined]],
  chains: [["run", undefined]],
  budgets: [["run", undefined]],
  // A request is found by its run too, and people remember what they have named themselves.
  requests: [
    ["run", "paused"],
    ["approval", "pending"],
  ],
  keys: [["key", undefined]],
  tokens: [["token", undefined]],
};

/** The ids that a command could mean, a line each; nothing at all when they cannot be told, or not soon. */
export async function idsFor(kind: string, line: string, terminal: Terminal): Promise<string> {
  if (!Object.hasOwn(SOURCES, kind)) return "";
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, []);
  });
  const ids = await Promise.race([findIds(kind as IdKind, line, terminal).catch(() => []), late]);
  clearTimeout(timer);
  return ids.map((id) => `${id}\n`).join("");
}

async function findIds(wanted: IdKind, line: string, terminal: Terminal): Promise<readonly string[]> {
  await using place = await openPlace({ ...placeIn(line), quiet: true }, terminal);
  const { store } = place;
  const ids: string[] = [];
  for (const [kind, status] of SOURCES[wanted]) ids.push(...(await some(store, kind, status, begunWord(line))));
  if (wanted === "chains" && (await store.budget(SERVER_CHAIN)) !== null) ids.push(SERVER_CHAIN);
  if (wanted === "budgets") ids.push(...(await knownBudgets(store)).filter(isWord).slice(0, MOST));
  return ids;
}

/** Those that begin like the word, or the latest where there is none yet. */
async function some(
  store: Store,
  kind: DocumentKind,
  status: string | undefined,
  prefix: string,
): Promise<readonly string[]> {
  const wanted = { status, limit: MOST, only: [] };
  const found = prefix === "" ? store.latest(kind, wanted) : store.beginning(kind, { ...wanted, prefix });
  const ids: string[] = [];
  for await (const { id } of found) if (isWord(id)) ids.push(id);
  return ids;
}

/** What is written already of the word at the end of a line. */
function begunWord(line: string): string {
  return /[^\s=]*$/.exec(line)?.[0] ?? "";
}

/** What a shell would take apart, or take for something else, is not offered. */
function isWord(id: string): boolean {
  return /^[\w.:@/+-]{1,200}$/.test(id);
}

/** The store that is named on the line that is being completed. */
function placeIn(line: string): Given {
  const flags: Record<string, string> = {};
  for (const [, name = "", value = ""] of line.matchAll(/\s--(store|config)[\s=]+(?:['"])?([^\s'"]+)/g)) {
    flags[name] = value;
  }
  return flags;
}
