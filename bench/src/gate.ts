import type { Amounts } from "../../packages/bursar/dist/core/amount.js";
import type { Grant } from "../../packages/bursar/dist/core/children.js";
import type { Dimension } from "../../packages/bursar/dist/core/dimension.js";
import { STANDARD } from "../../packages/bursar/dist/core/dimensions.js";
import { Ledger, REFUSED } from "../../packages/bursar/dist/core/ledger.js";
import type { Row } from "../../packages/bursar/dist/core/row.js";
import { BareCounters } from "./baseline.js";
import { allocated, type Measured, measure, type Variant } from "./measure.js";
import type { Bar, Bench, Report } from "./report.js";

/** No round comes near it, so that what is measured stays the same from the first one to the last. */
const LIMIT = 1e13;
const OPERATIONS = 200_000;
const LEVELS = 4;
/** How many children a budget has in the trees that are measured by their size. */
const FAN_OUT = 100;
/** A prime, so that steps of this width meet every leaf, and memory cannot be fetched ahead. */
const STEP = 7919;

export const gate: Bench = {
  name: "gate",
  about: `reserve + commit on a path of ${LEVELS} budgets, all ${STANDARD.all.length} dimensions limited in each`,
  run(quick) {
    const rounds = quick ? 5 : 31;
    const shapes = measure([bare(), ...plainShapes(), ...otherShapes()], rounds);
    const sizes = quick ? [1, 100, 10_000] : [1, 100, 10_000, 100_000];
    const trees = measure(sizes.map(inTree), rounds);
    const heap = plainShapes().map((variant) => ({ name: variant.name, bytes: allocated(lasting(variant)) }));
    return report(shapes, trees, heap);
  },
};

interface Heap {
  readonly name: string;
  readonly bytes: number;
}

function report(shapes: readonly Measured[], trees: readonly Measured[], heap: readonly Heap[]): Report {
  const plain = new Set(heap.map(({ name }) => name));
  const quick = shapes.filter(({ name }) => plain.has(name));
  const worst = Math.max(...quick.map(({ ratio }) => ratio));
  const growth = Math.max(...trees.map(({ ratio }) => ratio));
  const bars: Bar[] = [
    {
      name: "at most a third of the time of bare counters",
      measured: quick.map(({ ratio }) => ratio.toFixed(2)).join(", "),
      met: worst <= 1 / 3,
    },
    {
      name: "nothing allocated per operation in steady state (less than a byte, the noise of measuring)",
      measured: heap.map(({ bytes }) => `${bytes.toFixed(3)} B`).join(", "),
      met: heap.every(({ bytes }) => bytes < 1),
    },
    {
      name: "flat however many budgets there are (at most twice, for memory that is no longer near)",
      measured: `up to ${growth.toFixed(2)} times the cost with one`,
      met: growth <= 2,
    },
  ];
  return {
    tables: [
      { title: "one path, ratio to bare counters", rows: shapes },
      { title: "leaves taking turns, ratio to one leaf", rows: trees },
    ],
    bars,
  };
}

/** Four bare counters, one for each level: check all of them, then record in all of them. */
function bare(): Variant {
  const budget = { maxCost: 1e9, maxTokens: LIMIT, maxTime: LIMIT, maxDepth: 5, maxIterations: LIMIT };
  const counters = Array.from({ length: LEVELS }, () => new BareCounters(budget, () => {}));
  return {
    name: "baseline: four bare counters, check + record",
    operations: OPERATIONS,
    run(operations) {
      for (let i = 0; i < operations; i++) {
        for (const each of counters) if (!each.canProceed("iteration", 0)) throw new Error("bare counters ran out");
        for (const each of counters) each.record({ cost: 0.001, inputTokens: 100, outputTokens: 20, iteration: true });
      }
    },
  };
}

/** The shapes that are held against the bars. */
function plainShapes(): readonly Variant[] {
  const counted = ({ kind }: Dimension) => kind !== "clock";
  const summed = ({ kind }: Dimension) => kind === "sum";
  const ids = ["steps", "llm_tokens", "llm_input_tokens", "llm_output_tokens", "cost_usd"];
  return [
    roundTrip("reserve + commit, every dimension asked for", counted),
    roundTrip("reserve + commit, every sum asked for", summed),
    roundTrip("reserve + commit, a typical model call", ({ id }) => ids.includes(id)),
  ];
}

function roundTrip(name: string, concerns: (dimension: Dimension) => boolean): Variant {
  const { ledger, leaf } = path();
  return calls(name, ledger, leaf, ledger.row(amounts(concerns, 120)), ledger.row(amounts(concerns, 100)));
}

/** One call after the other in one budget, with the time passed in for each. */
function calls(name: string, ledger: Ledger, leaf: number, asked: Row, used: Row): Variant {
  const time = { monotonic: 0, instant: 0 };
  return {
    name,
    operations: OPERATIONS,
    run(operations) {
      for (let i = 0; i < operations; i++) {
        time.monotonic++;
        time.instant++;
        ledger.at(time);
        ledger.commit(ledger.reserve(leaf, asked), used);
      }
    },
  };
}

/** What has no bar of its own, but should hold no surprise. */
function otherShapes(): readonly Variant[] {
  const summed = ({ kind }: Dimension) => kind === "sum";
  const plain = path();
  const asked = plain.ledger.row(amounts(summed, 120));
  const used = plain.ledger.row(amounts(summed, 100));
  const held = path({ kind: "fraction", of: 0.5 });
  const full = path({ kind: "limits", limits: amounts(summed, 50) });
  const seen = path();
  return [
    clocked("reserve + commit, both clocks read for each call"),
    calls("reserve + commit, the leaf a fraction child", held.ledger, held.leaf, asked, used),
    repeat("charge, every sum", OPERATIONS, () => plain.ledger.charge(plain.leaf, used)),
    repeat("reserve + commit, then a look at the whole path", OPERATIONS / 20, () => {
      seen.ledger.commit(seen.ledger.reserve(seen.leaf, asked), used);
      seen.ledger.path(seen.leaf);
    }),
    repeat("a look at the whole path alone", OPERATIONS / 20, () => seen.ledger.path(seen.leaf)),
    repeat("deny", OPERATIONS / 100, () => {
      if (full.ledger.reserve(full.leaf, asked) !== REFUSED)
        throw new Error("the bench found room where there is none");
    }),
  ];
}

function clocked(name: string): Variant {
  const { ledger, leaf } = path();
  const asked = ledger.row(amounts(({ kind }) => kind === "sum", 120));
  const time = { monotonic: 0, instant: 0 };
  return repeat(name, OPERATIONS, () => {
    time.monotonic = performance.now();
    time.instant = Date.now();
    ledger.at(time);
    ledger.commit(ledger.reserve(leaf, asked), asked);
  });
}

function repeat(name: string, operations: number, operation: () => void): Variant {
  return {
    name,
    operations,
    run(count) {
      for (let i = 0; i < count; i++) operation();
    },
  };
}

/** The same shape with many operations, for what only shows in the long run. */
function lasting(variant: Variant): Variant {
  return { ...variant, operations: 20 * OPERATIONS };
}

/** A tree with so many leaves, all under one root. They are called in turns, each far from the last in memory. */
function inTree(leaves: number): Variant {
  const ledger = new Ledger(STANDARD);
  const limits = amounts(() => true, LIMIT);
  let opened = 0;
  const below = (parent: number | null) => {
    const scope = parent === null ? "shared" : "run";
    return ledger.open(parent, { id: `b${opened++}`, scope, grant: { kind: "limits", limits } }).node;
  };
  let level = [below(null)];
  for (let depth = 1; depth < LEVELS; depth++) {
    const size = Math.ceil(leaves / FAN_OUT ** (LEVELS - 1 - depth));
    const parents = level;
    level = Array.from({ length: size }, (_, i) => below(parents[i % parents.length] ?? null));
  }
  const nodes = Int32Array.from(level);
  const asked = ledger.row(amounts(({ kind }) => kind === "sum", 120));
  const used = ledger.row(amounts(({ kind }) => kind === "sum", 100));
  let turn = 0;
  return repeat(leaves === 1 ? "1 leaf" : `${leaves.toLocaleString("en")} leaves`, OPERATIONS, () => {
    turn = (turn + STEP) % nodes.length;
    ledger.commit(ledger.reserve(nodes[turn] ?? -1, asked), used);
  });
}

/** A path of four budgets with every dimension limited in each; its leaf may be granted otherwise. */
function path(grant?: Grant): { readonly ledger: Ledger; readonly leaf: number } {
  const ledger = new Ledger(STANDARD);
  const limits = amounts(() => true, LIMIT);
  let leaf: number | null = null;
  for (let level = 0; level < LEVELS; level++) {
    const own = level === LEVELS - 1 ? grant : undefined;
    const opening = {
      id: `b${level}`,
      scope: level < 2 ? "shared" : "run",
      grant: own ?? { kind: "limits", limits },
    } as const;
    leaf = ledger.open(leaf, opening).node;
  }
  return { ledger, leaf: leaf ?? REFUSED };
}

function amounts(concerns: (dimension: Dimension) => boolean, value: number): Amounts {
  return Object.fromEntries(STANDARD.all.filter(concerns).map(({ id }) => [id, value])) as Amounts;
}
