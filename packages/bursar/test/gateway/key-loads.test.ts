import { expect, test } from "vitest";
import { KeyLoads } from "../../src/gateway/key-loads.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

const LIMITS = { calls_per_key: 2, body_bytes_per_key: 100_000_000, body_bytes: 50_000_000 };

test("keys that do not come again are forgotten, and what a key has under way is not", () => {
  const clock = new FakeClock();
  const loads = new KeyLoads(LIMITS, clock);
  const { loads: kept } = loads as unknown as { readonly loads: ReadonlyMap<string, unknown> };
  const busy = loads.begin("busy");
  for (let each = 0; each < 1000; each++) {
    const load = loads.begin(`key ${each}`);
    load?.wasted(1_000_000);
    load?.end();
    clock.advance(10);
  }
  // A million bytes wear off in a second.
  expect(kept.size).toBeLessThan(250);
  expect(kept.has("busy")).toBe(true);
  expect([loads.begin("busy") === null, loads.begin("busy") === null]).toEqual([false, true]);
  busy?.end();
  expect(loads.begin("busy")).not.toBeNull();
});
