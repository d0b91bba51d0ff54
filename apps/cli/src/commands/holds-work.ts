import {
  type Call,
  type HolderState,
  HoldWatch,
  type JsonObject,
  type KnownHolder,
  parseLine,
  type Store,
  settleHold,
  writeAmount,
} from "bursar";
import { CommandError } from "../app/errors.js";
import { unlessAborted } from "../app/unless-aborted.js";
import { COMMON_HELP, textOf } from "../arguments/run-flags.js";
import { counted, span } from "../render/quantities.js";
import { runFigures } from "../render/run-figures.js";
import { clip, harmless, pad, type Style } from "../render/style.js";
import { openPlace } from "./common/place.js";
import type { Chore, Done, RunsCommand } from "./common/run-command.js";

const FLAGS = { of: { type: "string" } } as const;

export const LIST: RunsCommand = {
  help: `Usage: bursar holds list [flags]

What calls under way hold in budgets: the call, what it may use at most, since
when, and the process, alive or dead. Processes of other machines are watched
for half a minute at most before they are called dead.

Flags:
  --of <budget>      those in this budget alone
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar holds list --of session:team
`,
  flags: FLAGS,
  waits: "watching the processes that hold something",
  run: list,
};

export const SETTLE: RunsCommand = {
  help: `Usage: bursar holds settle [call] [flags]

Settles the holds of dead processes, or one of them. Model calls are charged as
reserved, because their answers may have come; other calls are given back.
Holds of living processes stay as they are.

Flags:
  --of <budget>      those in this budget alone
${COMMON_HELP}

A call may be named by any unambiguous beginning of its id.

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar holds settle
  bursar holds settle 0194a2
`,
  flags: FLAGS,
  word: "the call to settle",
  optional: true,
  waits: "watching the processes that hold something",
  run: settle,
};

/** A hold as it is shown. */
interface Hold {
  readonly call: string;
  readonly budget: string;
  readonly kind: string;
  readonly capability: string;
  /** In edge units. */
  readonly amounts: JsonObject;
  readonly since: number | null;
  readonly expires: number | null;
  /** Null where no process is named: a batch answers for it, or the run above. */
  readonly owner: { readonly host: string; readonly pid: number } | null;
  readonly state: HolderState;
}

/** Longer than it takes until a process that says nothing is taken for dead. */
const WATCH_MS = 40_000;
const LOOK_MS = 2000;

async function list({ flags, terminal, style }: Chore): Promise<Done> {
  await using place = await openPlace(flags, terminal);
  const holds = await holdsIn(place.store, textOf(flags, "of"), terminal.signal);
  return { report: { holds }, text: holdsText(holds, place.store.clock.now().instant, terminal.columns(), style) };
}

async function settle({ word, flags, terminal, style }: Chore): Promise<Done> {
  await using place = await openPlace(flags, terminal);
  const { store } = place;
  const all = await holdsIn(store, textOf(flags, "of"), terminal.signal);
  const wanted = word === "" ? all.filter(({ state }) => state === "dead") : [namedHold(all, word)];
  const settled: Hold[] = [];
  for (const hold of wanted) if (await settleHold(store, hold.call)) settled.push(hold);
  const left = all.length - settled.length;
  const rest =
    left === 0 ? "" : `; of living processes and of batches ${counted(left, "hold")} stay${left === 1 ? "s" : ""}`;
  const text = settled.map((hold) => {
    const how = hold.kind === "model" ? "charged as reserved" : "given back";
    return `${style.good("✓ settled")}  ${harmless(hold.call)} of budget ${harmless(hold.budget)}: ${runFigures(hold.amounts)} ${how}\n`;
  });
  const none = settled.length === 0 ? `nothing to settle${rest}\n` : "";
  return { report: { settled, left }, text: text.join("") + none };
}

function namedHold(all: readonly Hold[], word: string): Hold {
  const found = all.filter(({ call }) => call === word);
  const [hold, second] = found.length > 0 ? found : all.filter(({ call }) => call.startsWith(word));
  if (hold === undefined)
    throw new CommandError(`no call ${harmless(word)} holds anything; \`bursar holds\` lists those that do`);
  if (second !== undefined)
    throw new CommandError(`${harmless(word)} is the beginning of more than one call; say more of it`);
  if (hold.state === "dead") return hold;
  const why =
    hold.owner === null
      ? "it belongs to a batch or to the program above it, which settle it"
      : `process ${hold.owner.pid} on ${hold.owner.host} holds it and is alive`;
  throw new CommandError(`call ${harmless(hold.call)} is not settled: ${why}`);
}

/** Everything that is held, once it is known of every process whether it is alive. */
async function holdsIn(store: Store, budget: string | undefined, signal: AbortSignal): Promise<readonly Hold[]> {
  const watch = new HoldWatch(store);
  const until = performance.now() + WATCH_MS;
  let found = await watch.look();
  while (found.some(({ state }) => state === "unknown") && performance.now() < until) {
    await unlessAborted(new Promise((resolve) => setTimeout(resolve, LOOK_MS)), signal);
    found = await watch.look();
  }
  const holders = new Map(found.map((each) => [each.holder, each]));
  const holds: Hold[] = [];
  for await (const call of store.heldCalls()) {
    if (budget !== undefined && call.budget !== budget) continue;
    const { known = null, state = "unknown" } =
      (call.holder === undefined ? undefined : holders.get(call.holder)) ?? {};
    holds.push(await holdOf(store, call, known, state));
  }
  return holds;
}

async function holdOf(store: Store, call: Call, known: KnownHolder | null, state: HolderState): Promise<Hold> {
  const amounts: Record<string, number> = {};
  for (const [id, amount] of Object.entries(call.asked)) {
    if (amount > 0 && store.dimensions.has(id)) amounts[id] = writeAmount(store.dimensions.get(id), amount);
  }
  const { id, budget, kind, capability_id: capability, expires } = call;
  const owner = known === null ? null : { host: known.host, pid: known.pid };
  return { call: id, budget, kind, capability, amounts, since: await beginOf(store, call), expires, owner, state };
}

/** When the call was admitted, as its link says. */
async function beginOf(store: Store, { link }: Call): Promise<number | null> {
  const at = link?.lastIndexOf("#") ?? -1;
  if (link === null || at < 0) return null;
  for await (const line of store.chain(link.slice(0, at), Number(link.slice(at + 1)))) return parseLine(line).at;
  return null;
}

function holdsText(holds: readonly Hold[], now: number, columns: number, style: Style): string {
  if (holds.length === 0) return `${style.dim("nothing is held")}\n`;
  const lines = holds.map(({ call, budget, capability, amounts, since, owner, state }) => {
    const paint = { alive: style.good("alive"), dead: style.bad("dead"), unknown: style.dim("-") }[state];
    const who = owner === null ? style.dim("a batch, or a run below") : `${harmless(owner.host)} ${owner.pid}`;
    const age = since === null ? "" : ` for ${span(Math.max(0, now - since))}`;
    const what = `${harmless(budget)}  ${harmless(capability)}: ${runFigures(amounts)}${age}`;
    return clip(`${pad(paint, 7)}${harmless(call)}  ${what}  ${who}`, columns);
  });
  return lines.map((line) => `${line}\n`).join("");
}
