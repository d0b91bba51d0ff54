import assert from "node:assert/strict";
import type { Amount, Amounts } from "../../core/amount.js";
import { Operations } from "../../core/apply.js";
import type { Grant, Opening } from "../../core/children.js";
import { MemoryBooks } from "../../core/memory-books.js";
import type { Operation, ReserveOperation } from "../../core/operation.js";
import { sha256Hex } from "../../runtime/crypto.js";
import type { Case, Scene } from "./scene.js";

const SEEDS = 30;
/** From this one on, calls may be held to less than they ask for. */
const CUT_FROM = 20;
const STEPS = 60;
const SUMS = ["steps", "cost_usd", "emails_sent"];

/** Any history gives the same outcomes, the same budgets and the same chain, to the byte, as the rules in the core do. */
export const HISTORY: readonly Case[] = Array.from({ length: SEEDS }, (_, seed) => ({
  name: `a random history is what the core says it is (seed ${seed})`,
  run: (scene) => live(scene, seed + 1),
}));

async function live(scene: Scene, seed: number): Promise<void> {
  const random = generator(seed);
  const reference = new MemoryBooks(sha256Hex);
  const operations = new Operations(scene.store.dimensions);
  const budgets = [`root-${seed}`];
  const calls: string[] = [];
  const both = async (list: readonly Operation[]) => {
    const time = scene.clock.now();
    const expected = attempt(() =>
      reference.transact(time.instant, (books) => list.map((each) => operations.apply(books, each, time))),
    );
    const given = await scene.store.apply(list).then(
      (value) => ({ value }),
      (error: Error) => ({ error: error.message }),
    );
    assert.deepEqual(JSON.parse(JSON.stringify(given)), JSON.parse(JSON.stringify(expected)));
  };
  await both([
    { op: "open", parent: null, opening: { id: `root-${seed}`, scope: "shared", grant: limits(random, 60) } },
  ]);
  for (let step = 0; step < STEPS; step++) {
    const list = Array.from({ length: 1 + random(2) }, () => next(random, budgets, calls, scene)).map((each) =>
      each.op === "reserve" && seed > CUT_FROM ? { ...each, ...cuts(random, each.asked) } : each,
    );
    await both(list);
    if (random(4) === 0) scene.clock.advance(random(40));
  }
  for (const id of budgets) assert.deepEqual(await scene.store.budget(id), reference.budget(id));
  const lines: string[] = [];
  for await (const line of scene.store.chain(`root-${seed}`)) lines.push(line);
  assert.deepEqual(lines, reference.lines(`root-${seed}`));
}

type Random = (below: number) => number;

function next(random: Random, budgets: string[], calls: string[], scene: Scene): Operation {
  const budget = pick(random, budgets);
  const call = calls.length === 0 || random(8) === 0 ? `call-${calls.length}` : pick(random, calls);
  switch (random(12)) {
    case 0: {
      const id = `${budgets[0]}/${budgets.length}`;
      budgets.push(id);
      return { op: "open", parent: budget, opening: opening(random, id, scene) };
    }
    case 1:
      return { op: "extend", budget, additional: amounts(random, 10), approved_by: "ada", reason: null };
    case 2:
      return { op: (["pause", "resume", "end"] as const)[random(3)] ?? "pause", budget };
    case 3:
      return { op: "release", call };
    case 4:
      return random(3) === 0 ? { op: "anchor" } : { op: "expire" };
    case 5:
      return { op: "charge", budget, call: `charge-${random(5)}`, used: amounts(random, 6) };
    case 6:
    case 7:
    case 8:
      return { op: "commit", call, used: amounts(random, 12) };
    default: {
      const id = `call-${calls.length}`;
      calls.push(id);
      const kind = random(2) === 0 ? "model" : "tool";
      const expires = scene.clock.now().instant + random(100);
      return { op: "reserve", budget, call: id, kind, asked: amounts(random, 12), expires };
    }
  }
}

/** What a call may be cut to: what is left, what was learned, or both. */
function cuts(random: Random, asked: Amounts): Partial<Pick<ReserveOperation, "least" | "learned">> {
  const part = (): Amounts =>
    Object.fromEntries(Object.entries(asked).map(([id, amount]) => [id, random(amount + 1) as Amount]));
  return { ...(random(2) === 0 && { least: part() }), ...(random(2) === 0 && { learned: part() }) };
}

/** Every way in which a budget can be opened. */
function opening(random: Random, id: string, scene: Scene): Opening {
  const grants: readonly Grant[] = [
    { kind: "fraction", of: 0.5 },
    { kind: "wrap_up", amounts: amounts(random, 5) },
    { ...limits(random, 30), clamp: true },
    limits(random, 30),
  ];
  const policy = pick(random, ["hard_stop", "approval_required", "soft_warn"] as const);
  return {
    id,
    scope: random(2) === 0 ? "run" : "shared",
    grant: pick(random, grants),
    ...(random(2) === 0 ? { policies: { [pick(random, SUMS)]: policy } } : {}),
    ...(random(3) === 0 ? { thresholds: [25, 75] } : {}),
    ...(random(4) === 0 ? { deadline: scene.clock.now().instant + random(400) } : {}),
  };
}

function limits(random: Random, most: number): { kind: "limits"; limits: Amounts } {
  return { kind: "limits", limits: { ...amounts(random, most), wall_clock_ms: (500 + random(500)) as Amount } };
}

function amounts(random: Random, most: number): Amounts {
  const peak = random(5) === 0 ? { open_tabs: random(most) as Amount } : {};
  return { ...Object.fromEntries(SUMS.filter(() => random(3) > 0).map((id) => [id, random(most) as Amount])), ...peak };
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T;
}

function attempt<T>(work: () => T): { value: T } | { error: string } {
  try {
    return { value: work() };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** A small generator of our own (mulberry32), so that a failing seed can be replayed anywhere. */
function generator(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
