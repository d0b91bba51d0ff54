import { parseLine } from "../../../src/core/chain/link.js";
import type { Bursar } from "../../../src/runs/bursar.js";
import { type RunRecord, readRun } from "../../../src/runs/record.js";
import { EXPECTED } from "./agents.js";
import type { World } from "./world.js";

/** What may become of a run, by what happened to it. */
export interface Allowed {
  readonly cancelled: boolean;
  /** The dimensions at whose limits it may be stopped. */
  readonly stops: readonly string[];
  /** Whether its time may run out in the middle of a call. */
  readonly isTimed: boolean;
}

/** Charged for an answer, and for a try of which nobody knows what became of it. */
const ANSWER = { steps: 1, llm_tokens: 15, cost_usd: 0.0002 };
const RESERVED = { steps: 1, llm_tokens: 100, cost_usd: 0.001 };
/** The agent's own step, and the start of its child. */
const OWN_STEPS = 2;

type Usage = Readonly<Record<keyof typeof ANSWER, number>>;

/** Looks whether a run ended as it may, and whether it has paid for what was done, to the last token. */
export async function judge(world: World, bursar: Bursar, allowed: Allowed): Promise<readonly string[]> {
  const run = await bursar.find("r");
  const problems = endedWell(run, allowed, world)
    ? []
    : [`ended ${run.status} ${JSON.stringify([run.result, run.failure])}`];
  const { usage } = await bursar.result(run);
  const told = rounded(await toldUsage(world));
  const used = rounded(usage as unknown as Usage);
  if (!isSame(told, used))
    problems.push(`used ${JSON.stringify(used)}, but its chain tells of ${JSON.stringify(told)}`);
  if (run.status === "completed") {
    const right = rounded(expectedUsage(world, vainIn(world, used)));
    // A tool that is broken off by the clock has been tried, and is tried again: both are steps.
    const more = allowed.isTimed ? Math.min(Math.max(0, used.steps - right.steps), againOf(world)) : 0;
    if (!isSame({ ...right, steps: right.steps + more }, used)) {
      problems.push(`used ${JSON.stringify(used)} in place of ${JSON.stringify(right)}`);
    }
  }
  return [...problems, ...(await unpaid(world))];
}

function endedWell({ status, result, failure }: RunRecord, { cancelled, stops }: Allowed, { idled }: World): boolean {
  if (status === "completed") return JSON.stringify(result) === JSON.stringify(EXPECTED);
  if (status === "cancelled") return cancelled;
  if (status !== "failed" || failure === null) return false;
  // What was asked for by the child is the parent's to know.
  if (failure.code === "child_failed" && failure.data.status === "cancelled") return cancelled;
  // A call that has waited for others for a day is told so.
  if (failure.code === "busy") return idled;
  return stops.includes(failure.dimension ?? String(failure.data.dimension));
}

/**
 * What a run has to have used that came to its end: each effect once as it was, and once more as reserved each try of a model
 * call that was made in vain. Of a tool that was tried in vain it is not known that it did anything.
 */
function expectedUsage(world: World, vain: number): Usage {
  const { effects, asked } = world;
  const tools = [...effects.keys()].filter((key) => !asked.has(key)).length;
  return {
    steps: OWN_STEPS + tools + asked.size + vain * RESERVED.steps,
    llm_tokens: asked.size * ANSWER.llm_tokens + vain * RESERVED.llm_tokens,
    cost_usd: asked.size * ANSWER.cost_usd + vain * RESERVED.cost_usd,
  };
}

/** How many tries of model calls were in vain, as the tokens tell; one that was admitted may not have been made any more. */
function vainIn({ effects, asked, tries }: World, { llm_tokens }: Usage): number {
  const told = (llm_tokens - asked.size * ANSWER.llm_tokens) / RESERVED.llm_tokens;
  const sum = (of: (key: string) => number) => [...asked].reduce((all, key) => all + of(key) - 1, 0);
  const least = sum((key) => effects.get(key) ?? 0);
  const most = sum((key) => tries.get(key)?.size ?? 0);
  return Math.min(Math.max(Math.floor(told), least), most);
}

/** How often something that is no model call was tried again. */
function againOf({ asked, tries }: World): number {
  return [...tries].reduce((sum, [key, { size }]) => sum + (asked.has(key) ? 0 : size - 1), 0);
}

/** What the links of its chain, and of those below it, add up to. */
async function toldUsage({ store }: World): Promise<Usage> {
  const sum = { steps: 0, llm_tokens: 0, cost_usd: 0 };
  const chains = new Set<string>();
  for await (const document of store.documents("run")) chains.add(readRun(document).budget);
  for (const chain of chains) {
    for await (const line of store.chain(chain)) {
      const { event, data } = parseLine(line);
      const charged = (event === "Consumption" ? data.resources : {}) as Partial<Usage>;
      for (const id of Object.keys(sum) as (keyof Usage)[]) sum[id] += charged[id] ?? 0;
    }
  }
  return sum;
}

/** However a run ended: no model call that was made is forgotten, and none is paid for twice. */
async function unpaid({ store, effects, asked, tries }: World): Promise<readonly string[]> {
  const paid = new Map<string, number>();
  for await (const line of store.chain("r")) {
    const { event, data } = parseLine(line);
    if (event === "Consumption") paid.set(String(data.step_id), (paid.get(String(data.step_id)) ?? 0) + 1);
  }
  return [...asked].flatMap((key) => {
    // One that was admitted when the run came to its end may not have been made any more.
    const [times, made, most] = [paid.get(key) ?? 0, effects.get(key) ?? 0, tries.get(key)?.size ?? 0];
    const isRight = times >= made && times <= most;
    return isRight ? [] : [`model call ${key} was made ${made} times of ${most}, and paid for ${times} times`];
  });
}

/** Sums of decimals are compared as billionths. */
function rounded({ steps, llm_tokens, cost_usd }: Usage): Usage {
  return { steps, llm_tokens, cost_usd: Math.round(cost_usd * 1e9) / 1e9 };
}

function isSame(a: Usage, b: Usage): boolean {
  return a.steps === b.steps && a.llm_tokens === b.llm_tokens && a.cost_usd === b.cost_usd;
}
