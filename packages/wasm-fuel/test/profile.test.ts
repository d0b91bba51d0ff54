import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { meter } from "../src/meter.js";
import { PROFILE_FORMAT, profileOf, readProfile, writeProfile } from "../src/profile.js";
import { recording } from "../src/record-profile.js";
import { loopModule } from "./generator/loop.js";
import { generateModule } from "./generator/module.js";
import { recordedEndingOf } from "./recording.js";
import { endingOf } from "./running.js";

describe("a profile", () => {
  test("knows powers of two", () => {
    const counts = Float64Array.of(0, 1, 2, 3, 4, 7, 8, 2 ** 52);
    expect([...profileOf(counts).levels]).toEqual([0, 1, 2, 2, 3, 3, 4, 53]);
  });

  test("is read as it was written, whatever it is", () => {
    const level = fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 128 }));
    fc.assert(
      fc.property(fc.array(level, { maxLength: 600 }), (levels) => {
        expect([...readProfile(writeProfile({ levels: Uint8Array.from(levels) })).levels]).toEqual(levels);
      }),
    );
  });

  test("takes little room for what never ran", () => {
    expect(writeProfile({ levels: new Uint8Array(400_000) }).length).toBeLessThan(4000);
  });

  test("that is none, or of another format, or damaged, is refused", () => {
    const bytes = Buffer.from(writeProfile({ levels: Uint8Array.of(0, 1, 2) }));
    const other = Buffer.from(bytes.toString("latin1").replace(String(PROFILE_FORMAT), "9"), "latin1");
    const damaged = Buffer.concat([bytes, Uint8Array.of(0)]);
    for (const wrong of [new Uint8Array(), bytes.subarray(0, 5), other, damaged]) {
      expect(() => readProfile(wrong)).toThrow(RangeError);
    }
  });

  test("of another module's size is refused by the meter", () => {
    const wasm = generateModule(1);
    const levels = new Uint8Array(recording(wasm).edges + 1);
    expect(() => meter(wasm, { profile: { levels } })).toThrow(/^the profile is of \d+ edges, and the module has \d+/);
  });
});

describe("a module that is recorded", () => {
  test("does what it did before", () => {
    for (let seed = 0; seed < 100; seed += 1) {
      const wasm = generateModule(seed);
      const { profile: _, ...ending } = recordedEndingOf(wasm);
      expect({ ...ending, outcome: String(ending.outcome) }, `seed ${seed}`).toEqual({
        ...endingOf(wasm),
        outcome: String(endingOf(wasm).outcome),
      });
    }
  });

  test("tells of every way it takes, each time", () => {
    // A loop of nine rounds, of which the last does not branch back.
    const round = [0x20, 0, 0x41, 1, 0x6a, 0x22, 0, 0x41, 9, 0x48, 0x0d, 0];
    const wasm = loopModule(round);
    const { outcome, profile } = recordedEndingOf(wasm);
    const levels = [...profile.levels];

    expect(outcome).toBe(9);
    // The entry runs once, the head of the loop nine times and the way back eight times.
    expect(levels[0]).toBe(1);
    expect(levels.filter((level) => level === 4)).toHaveLength(2);
    expect(levels.filter((level) => level !== 4 && level !== 1 && level !== 0)).toEqual([]);
  });

  /** When this changes because the rewriter numbers edges in another way, PROFILE_FORMAT has to go up, here and in settings.mjs. */
  test("has its edges numbered as in every profile of this format", () => {
    const hash = createHash("sha256");
    for (let seed = 0; seed < 30; seed += 1) hash.update(writeProfile(recordedEndingOf(generateModule(seed)).profile));
    expect(hash.digest("hex").slice(0, 16)).toBe("13be8dc7d4d6fc73");
  });
});
