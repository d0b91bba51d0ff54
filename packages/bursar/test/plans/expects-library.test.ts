import fc from "fast-check";
import { expect, test } from "vitest";
import { LISTS, MAPS } from "../../src/plans/expects/collections.js";
import { KINDS, NUMBERS } from "../../src/plans/expects/numbers.js";
import { TEXTS } from "../../src/plans/expects/texts.js";
import { DATA, readable, Unknown, type Value } from "../../src/plans/expects/value.js";
import { BUILTINS, libraryFor } from "../../src/plans/library/library.js";
import { PATTERNS } from "../../src/plans/library/patterns.js";

const PURE = { ...NUMBERS, ...KINDS, ...TEXTS, ...LISTS, ...MAPS };
const builtins = [...new Set([...BUILTINS.values(), ...PATTERNS])];
const ids = Object.keys(PURE);

/** The guest's own code, executed here. */
const guest: Record<string, (at: number, ...args: unknown[]) => unknown> = new Function(
  "console",
  `${libraryFor(ids)}return { ${ids.map((id) => `${id}: $${id}`).join(", ")} };`,
)({ log: () => {} });

const spend = () => {};

/** What the guest gives; undefined where it fails. */
function given(id: string, args: readonly unknown[]): { readonly value: unknown } | undefined {
  try {
    return { value: guest[id]?.(0, ...structuredClone(args)) };
  } catch {
    return undefined;
  }
}

const scalars = fc.oneof(
  fc.constantFrom<Value>(null, true, false, "", "a", "b", "é👋", "1", "a b", 0, 1, 2, -1, 3, 2.5, "key"),
  fc.integer({ min: -5, max: 12 }),
  fc.constantFrom<Value>("1.5", " 12 ", "a\nb\n", "ab,cd", ",", "2e3", Number.MAX_SAFE_INTEGER, 1e300),
);
const { values } = fc.letrec<{ values: Value }>((tie) => ({
  values: fc.oneof(
    { maxDepth: 2 },
    scalars,
    fc.array(tie("values"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "b", "key", "1"), tie("values"), { maxKeys: 3 }),
  ) as fc.Arbitrary<Value>,
}));

const uses = fc
  .constantFrom(...builtins.filter(({ id }) => ids.includes(id)))
  .chain((builtin) =>
    fc.tuple(
      fc.constant(builtin.id),
      fc.array(values, { minLength: builtin.least, maxLength: builtin.most ?? Math.max(builtin.least, 4) }),
    ),
  );

test("every function that is foreseen is one of the library", () => {
  const known = builtins.map(({ id }) => id);
  expect(ids.filter((id) => !known.includes(id))).toEqual([]);
});

test("what is foreseen of a function is what the guest's own code gives", () => {
  let told = 0;
  fc.assert(
    fc.property(uses, ([id, args]) => {
      const foreseen = PURE[id]?.(args, spend);
      if (foreseen === undefined) return;
      told++;
      const real = given(id, args);
      // Where it fails, whatever was foreseen does not matter any more.
      if (real !== undefined) expect([id, args, plainOf(foreseen)]).toEqual([id, args, plainOf(real.value as Value)]);
    }),
    { numRuns: 20_000 },
  );
  expect(told).toBeGreaterThan(3000);
});

test("with arguments that are not known, it is something that the guest may give", () => {
  const holes = fc.array(fc.nat({ max: 30 }), { maxLength: 3 });
  fc.assert(
    fc.property(uses, holes, values, ([id, args], where, filling) => {
      const [blank, full] = [withHoles(args, where, DATA), withHoles(args, where, filling)];
      const foreseen = PURE[id]?.(blank as readonly Value[], spend);
      const real = given(id, full as readonly unknown[]);
      if (foreseen === undefined || real === undefined) return;
      expect([id, blank, full, mayBe(foreseen, real.value)]).toEqual([id, blank, full, true]);
    }),
    { numRuns: 20_000 },
  );
});

function plainOf(value: Value): unknown {
  return readable(value, null, spend)?.json;
}

/** The same with something else in some places, counted through. */
function withHoles(value: unknown, where: readonly number[], hole: Value): unknown {
  let place = 0;
  const go = (each: unknown, isTop: boolean): unknown => {
    if (!isTop && where.includes(place++)) return hole;
    if (Array.isArray(each)) return each.map((inner) => go(inner, false));
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, go(inner, false)]));
  };
  return go(value, true);
}

/** Whether a value is one of those that are foreseen. */
function mayBe(foreseen: Value, real: unknown): boolean {
  if (foreseen instanceof Unknown)
    return foreseen.most === null || !Array.isArray(real) || real.length <= foreseen.most;
  if (typeof foreseen !== "object" || foreseen === null || typeof real !== "object" || real === null) {
    return foreseen === real;
  }
  const [one, other] = [Object.entries(foreseen), Object.entries(real)];
  return (
    Array.isArray(foreseen) === Array.isArray(real) &&
    one.length === other.length &&
    one.every(([key, value]) => Object.hasOwn(real, key) && mayBe(value, (real as Record<string, unknown>)[key]))
  );
}
