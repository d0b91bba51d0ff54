import type { Bursar } from "../../../src/runs/bursar.js";
import { hasEnded } from "../../../src/runs/record.js";
import { busy, child, EXPECTED, OPTIONS } from "./agents.js";
import { Dice } from "./dice.js";
import type { Fate } from "./handle.js";
import { World } from "./world.js";

const PEOPLE = ["ann", "bob"];

/**
 * One history of a run that everything happens to: processes that die, a store that fails, workers that want the same run,
 * people who answer at the same time or too late, and one who changes his mind. Gives back what is wrong in the end.
 */
export async function history(seed: number): Promise<readonly string[]> {
  const dice = new Dice(seed);
  const world = new World(seed, [busy, child]);
  const tight = dice.chance(60);
  const limits = tight
    ? { ...OPTIONS.limits, steps: 2 + dice.below(8), llm_tokens: 120 + dice.below(300) }
    : OPTIONS.limits;
  const policies = { steps: "approval_required", llm_tokens: "approval_required" } as const;
  const options = { ...OPTIONS, limits, policies };
  const cancels = dice.chance(15);
  for (let turn = 0; turn < 2 + dice.below(4); turn++) {
    const worker = world.process(fateOf(dice));
    void worker.run("busy", { size: 3 }, options).catch(() => {});
    await pass(world, dice, 50 + dice.below(400));
    if (dice.chance(50)) answer(world, dice);
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
    await world.until(approveAll(healthy, "ann"));
  }
  return [...(await world.until(judge(world, healthy, cancels))), ...(await world.check())];
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
  if (dice.chance(10)) world.clock.advance(25 * 60 * 60_000);
}

function answer(world: World, dice: Dice): void {
  for (const name of PEOPLE) if (dice.chance(70)) void approveAll(world.process(fateOf(dice)), name).catch(() => {});
}

async function approveAll(bursar: Bursar, name: string): Promise<void> {
  const by = { name, role: "operator" } as const;
  let pending = 0;
  for await (const { id } of bursar.approvals()) {
    pending++;
    const extensions = { steps: 30, llm_tokens: 5000 };
    await bursar.approve(id, { by, extensions }).catch(async (error: { code?: string }) => {
      if (error.code === "no_room") await bursar.extend("r", { steps: 100, llm_tokens: 20_000 }, { by });
      else if (!["decided", "expired", "stale"].includes(error.code ?? "")) throw error;
    });
  }
  // What has expired is asked for anew.
  if (pending === 0 || (await bursar.find("r")).status === "paused") await bursar.resume("r").catch(() => {});
}

async function judge(world: World, bursar: Bursar, cancels: boolean): Promise<readonly string[]> {
  const problems: string[] = [];
  const run = await bursar.find("r");
  const right = run.status === "completed" && JSON.stringify(run.result) === JSON.stringify(EXPECTED);
  if (!right && !(cancels && run.status === "cancelled")) {
    problems.push(`ended ${run.status} with ${JSON.stringify(run.result)} ${JSON.stringify(run.failure)}`);
  }
  const made = [...world.effects.values()].reduce((sum, times) => sum + times, 0);
  const { usage } = await bursar.result(run);
  // An effect is a step, and so are the agent's own and the start of its child. Each process that died may have left three at
  // once under way, which are charged when they were models.
  const most = made + 2 + 4 * world.handles.length;
  if (Number(usage.steps) > most) problems.push(`${usage.steps} steps for ${made} effects`);
  return problems;
}
