import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { defineDimension } from "../../src/core/dimension.js";
import { Dimensions, STANDARD } from "../../src/core/dimensions.js";
import { InputError } from "../../src/core/errors.js";
import {
  defaultLimits,
  defaultPolicies,
  readAmounts,
  readLimits,
  readPolicies,
  readThresholds,
} from "../../src/core/input.js";

const MEGABYTE = 1_048_576;

scenario("004/dimension-steps", () => {
  expect(defaultLimits(STANDARD).steps).toBe(50);
});

scenario("004/dimension-wall-clock-ms", () => {
  expect(defaultLimits(STANDARD).wall_clock_ms).toBe(60_000);
});

scenario("004/dimension-llm-tokens", () => {
  expect(defaultLimits(STANDARD).llm_tokens).toBe(100_000);
});

scenario("004/dimension-cost-usd", () => {
  expect(defaultLimits(STANDARD).cost_usd).toBe(500_000_000);
});

scenario("004/dimension-network-egress-bytes", () => {
  expect(defaultLimits(STANDARD).network_egress_bytes).toBe(10 * MEGABYTE);
});

scenario("004/dimension-storage-write-bytes", () => {
  expect(defaultLimits(STANDARD).storage_write_bytes).toBe(50 * MEGABYTE);
});

scenario("004/default-policy-hard-stop-dimensions", () => {
  const policies = defaultPolicies(STANDARD);
  const ids = ["steps", "wall_clock_ms", "cost_usd", "network_egress_bytes", "storage_write_bytes"];

  expect(ids.map((id) => policies[id])).toEqual(ids.map(() => "hard_stop"));
});

scenario("004/default-policy-llm-tokens", () => {
  expect(defaultPolicies(STANDARD).llm_tokens).toBe("approval_required");
});

describe("limits", () => {
  test("an absent key takes the default, null is no limit, 0 is none of it", () => {
    const limits = readLimits({ steps: null, cost_usd: 0 }, STANDARD, { defaults: defaultLimits(STANDARD) });

    expect(limits.steps).toBeUndefined();
    expect(limits.cost_usd).toBe(0);
    expect(limits.llm_tokens).toBe(100_000);
  });

  test("without defaults an absent key is no limit at this node", () => {
    expect(readLimits({ steps: 3 }, STANDARD)).toEqual({ steps: 3 });
  });

  test("aliases and kebab forms are mapped once, to one id", () => {
    const written = { max_cost_usd: 1, "token-budget": 5, "wall-clock": 7, network_egress: 8, "storage-write": 9 };

    expect(readLimits(written, STANDARD)).toEqual({
      cost_usd: 1_000_000_000,
      llm_tokens: 5,
      wall_clock_ms: 7,
      network_egress_bytes: 8,
      storage_write_bytes: 9,
    });
    expect(() => readLimits({ cost_usd: 1, max_cost_usd: 2 }, STANDARD)).toThrow(
      "limits.max_cost_usd says cost_usd a second time",
    );
  });

  test("an unknown name lists the known ones and what was probably meant", () => {
    expect(() => readLimits({ cots_usd: 1 }, STANDARD, { field: "budgets" })).toThrow(
      /^budgets\.cots_usd "cots_usd" is not a dimension; did you mean cost_usd\?; known: steps, wall_clock_ms,/,
    );
    expect(() => readLimits(JSON.parse('{"__proto__": 1}'), STANDARD)).toThrow("is not a dimension");
  });

  test("the largest limit is nine million dollars", () => {
    expect(readLimits({ cost_usd: 9_000_000 }, STANDARD)).toEqual({ cost_usd: 9_000_000_000_000_000 });
    expect(() => readLimits({ cost_usd: 9_000_001 }, STANDARD)).toThrow("limits.cost_usd is 9000001");
  });
});

describe("policies, amounts and thresholds", () => {
  test("policies are read by any name, and a typo is met with a guess", () => {
    expect(readPolicies({ "cost-usd": "approval-required" }, STANDARD)).toEqual({ cost_usd: "approval_required" });
    expect(() => readPolicies({ steps: "hard_stopp" }, STANDARD)).toThrow("did you mean hard_stop?");
    expect(() => readPolicies({ steps: 1 }, STANDARD)).toThrow("policies.steps is 1; allowed: hard_stop");
  });

  test("nobody asks for a clock", () => {
    expect(() => readAmounts({ wall_clock_ms: 5 }, STANDARD, { field: "asked" })).toThrow(
      "asked.wall_clock_ms is a clock",
    );
    expect(readAmounts({ wall_clock_ms: 5 }, STANDARD, { clocks: true })).toEqual({ wall_clock_ms: 5 });
  });

  test("thresholds are ascending percentages", () => {
    expect(readThresholds([50, 80])).toEqual([50, 80]);
    expect(readThresholds([])).toEqual([]);
    for (const bad of [
      [80, 50],
      [50, 50],
      [0],
      [100],
      [Number.NaN],
      ["50"],
      "50",
      null,
      Array.from({ length: 17 }, (_, i) => i + 1),
    ]) {
      expect(() => readThresholds(bad)).toThrow("thresholds must be at most 16 ascending percentages");
    }
  });
});

describe("any bad value in any field", () => {
  const bad = fc.oneof(
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined, true, 1n, 1e300),
    fc.double({ max: -Number.MIN_VALUE, noNaN: true }),
    fc.string(),
    fc.array(fc.anything()),
    fc.object(),
  );

  test("is refused with the field's name and what is allowed", () => {
    const ids = STANDARD.all.map(({ id }) => id);
    fc.assert(
      fc.property(fc.constantFrom(...ids), bad, (id, value) => {
        expect(() => readLimits({ [id]: value }, STANDARD)).toThrow(InputError);
        expect(() => readLimits({ [id]: value }, STANDARD)).toThrow(new RegExp(`^limits\\.${id} is .*allowed: `, "s"));
      }),
    );
  });

  test("is refused as a whole too", () => {
    for (const value of [null, undefined, 1, "steps=1", [], () => {}, Symbol("x"), new Map([["steps", 1]])]) {
      expect(() => readLimits(value, STANDARD)).toThrow(/^limits is .*allowed: an object keyed by dimension$/);
    }
  });

  test("any key that is no dimension is refused", () => {
    fc.assert(
      fc.property(fc.string(), (key) => {
        const known = (() => {
          try {
            STANDARD.resolve(key);
            return true;
          } catch {
            return false;
          }
        })();
        if (!known) expect(() => readLimits({ [key]: 1 }, STANDARD)).toThrow("is not a dimension");
      }),
    );
  });
});

describe("dimensions of the caller's own", () => {
  test("stand behind the built-in ones and are read like them", () => {
    const dimensions = STANDARD.with(
      defineDimension({ id: "emails_sent", kind: "sum", unit: "emails", defaultLimit: 20 }),
    );

    expect(defaultLimits(dimensions).emails_sent).toBe(20);
    expect(readLimits({ "emails-sent": 3 }, dimensions)).toEqual({ emails_sent: 3 });
    expect(dimensions.rank("emails_sent")).toBe(STANDARD.all.length);
  });

  test("cannot take a name that is taken", () => {
    for (const id of ["steps", "max_cost_usd", "wall_clock"]) {
      expect(() => STANDARD.with(defineDimension({ id, kind: "sum" }))).toThrow("which is taken");
    }
    expect(
      () => new Dimensions([defineDimension({ id: "a", kind: "sum" }), defineDimension({ id: "a", kind: "peak" })]),
    ).toThrow("taken");
  });

  test.each([
    ["dimension.id", { id: "Emails", kind: "sum" }],
    ["dimension.id", { id: "", kind: "sum" }],
    ["dimension.id", { id: "a".repeat(64), kind: "sum" }],
    ["dimension.kind", { id: "emails", kind: "average" }],
    ["dimension.defaultPolicy", { id: "emails", kind: "sum", defaultPolicy: "ignore" }],
    ["dimension.unit", { id: "emails", kind: "sum", unit: "" }],
    ["dimension.description", { id: "emails", kind: "sum", description: 1 }],
    ["dimension.decimals", { id: "emails", kind: "sum", decimals: 10 }],
    ["dimension.decimals", { id: "idle_ms", kind: "clock", decimals: 3 }],
    ["dimension.defaultLimit", { id: "emails", kind: "sum", defaultLimit: -1 }],
    ["dimension", null],
  ])("%s is checked: %j", (field, definition) => {
    expect(() => defineDimension(definition as never)).toThrow(new RegExp(`^${field} `));
  });
});
