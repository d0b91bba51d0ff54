import type { ExhaustionPolicy } from "../../../src/core/policy.js";
import type { Bursar } from "../../../src/runs/bursar.js";
import type { StartOptions } from "../../../src/runs/opening.js";
import { hasEnded } from "../../../src/runs/record.js";
import { busy, child, OPTIONS } from "./agents.js";
import { Dice } from "./dice.js";
import type { Fate } from "./handle.js";
import { type Allowed, judge } from "./judge.js";
import { SeededChance } from "./seeded-chance.js";
import { World } from "./world.js";

const PEOPLE = ["ann", "bob"];
/** Who drives a run while nobody looks for a day uses that much of its time. */
const DAYS_MS = 10 * 24 * 60 * 60_000;

/**
 * One history of a run that everything happens to: processes that die, a store that fails, workers that want the same run,
 * people who answer at the same time or too late, and one who changes his mind. Gives back what is wrong in the end. The same seed
 * gives the same history, to the last hash.
 */
export async function history(seed: number): Promise<readonly string[]> {
  return (await played(seed)).problems;
}

/** The same with what the run's chain ends with. */
export async function played(seed: number): Promise<{ readonly problems: readonly string[]; readonly head: string }> {
  using _ = new SeededChance(seed);
  const world = new World(seed, [busy, child]);
  const problems = await happen(world, new Dice(seed));
  return { problems, head: (await world.store.head("r"))?.hash ?? "" };
}

async function happen(world: World, dice: Dice): Promise<readonly string[]> {
  const { options, stops, isTimed } = termsOf(dice);
  const cancels = dice.chance(15);
  const denies = dice.chance(10);
  for (let turn = 0; turn < 2 + dice.below(4); turn++) {
    const worker = world.process(fateOf(dice));
    void worker.run("busy", { size: 3 }, options).catch(() => {});
    await pass(world, dice, 50 + dice.below(400));
    if (dice.chance(50)) answer(world, dice, denies);
    if (cancels && dice.chance(40))
      void world
        .process(fateOf(dice))
        .cancel("r")
        .catch(() => {});
  }
  // Whatever happened before, now everything works, and the run comes to its end.
  const healthy = world.process();
  await world.until(healthy.start("busy", { size: 3 }, options));
  for (let round = 0; ; round++) {
    if (round > 100) return ["the run does not come to its end"];
    const run = await world.until(healthy.drive("r"));
    if (hasEnded(run)) break;
    await world.until(answerAll(healthy, "ann", denies && dice.chance(50)));
  }
  const allowed = { cancelled: cancels || denies, stops, isTimed };
  return [...(await world.until(judge(world, healthy, allowed))), ...(await world.check())];
}

/** What a run may use, what happens at its limits, and which of them may end it. */
function termsOf(dice: Dice): { readonly options: StartOptions } & Pick<Allowed, "stops" | "isTimed"> {
  const tight = dice.chance(60);
  const limits = tight
    ? { ...OPTIONS.limits, steps: 2 + dice.below(8), llm_tokens: 120 + dice.below(300) }
    : OPTIONS.limits;
  // A few are stopped at their limits, and a few run out of time.
  const strict = tight && dice.chance(15) ? dice.pick(["steps", "llm_tokens"]) : null;
  const timed = dice.chance(20) ? dice.pick<ExhaustionPolicy>(["approval_required", "hard_stop"]) : null;
  const policies: Record<string, ExhaustionPolicy> = { steps: "approval_required", llm_tokens: "approval_required" };
  if (strict !== null) policies[strict] = "hard_stop";
  if (timed !== null) policies.wall_clock_ms = timed;
  const wall_clock_ms = timed === null ? null : 200 + dice.below(4000);
  const stops = Object.keys(policies).filter((id) => policies[id] === "hard_stop");
  return { options: { ...OPTIONS, limits: { ...limits, wall_clock_ms }, policies }, stops, isTimed: timed !== null };
}

function fateOf(dice: Dice): Fate {
  const hiccups = dice.chance(40) ? 5 : 0;
  if (dice.chance(30)) return { hiccups };
  return { hiccups, dies: { at: dice.below(60), when: dice.chance(50) ? "before" : "after" } };
}

async function pass(world: World, dice: Dice, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (dice.chance(20)) world.clock.advance(dice.below(60));
  }
  // Sometimes nobody looks for more than a day.
  if (!dice.chance(10)) return;
  world.idled = true;
  world.clock.advance(25 * 60 * 60_000);
}

function answer(world: World, dice: Dice, denies: boolean): void {
  for (const name of PEOPLE) {
    if (!dice.chance(70)) continue;
    void answerAll(world.process(fateOf(dice)), name, denies && dice.chance(50)).catch(() => {});
  }
}

async function answerAll(bursar: Bursar, name: string, denies: boolean): Promise<void> {
  const by = { name, role: "operator" } as const;
  let pending = 0;
  for await (const { id } of bursar.approvals()) {
    pending++;
    const limits = (await bursar.store.budget("r"))?.limits ?? {};
    const isTimed = limits.wall_clock_ms !== undefined;
    const extensions = { steps: 30, llm_tokens: 5000, ...(isTimed && { wall_clock_ms: DAYS_MS }) };
    const above = { steps: 100, llm_tokens: 20_000, ...(isTimed && { wall_clock_ms: 10 * DAYS_MS }) };
    const answered = denies ? bursar.deny(id, { by }) : bursar.approve(id, { by, extensions });
    await answered.catch(async (error: { code?: string }) => {
      if (error.code === "no_room") await bursar.extend("r", above, { by });
      else if (!["decided", "expired", "stale"].includes(error.code ?? "")) throw error;
    });
  }
  // What has expired is asked for anew.
  if (pending === 0 || (await bursar.find("r")).status === "paused") await bursar.resume("r").catch(() => {});
}
