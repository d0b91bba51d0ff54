import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Surroundings } from "./contained.js";
import type { HostileProgram } from "./hostile-program.js";

/** Runs programs one after another, all in the same sandbox: what one of them breaks, the next one notices. */
export function describePrograms(title: string, programs: readonly HostileProgram[]): void {
  describe(title, () => {
    let surroundings: Surroundings;

    beforeAll(async () => {
      surroundings = await Surroundings.open();
    });

    afterAll(async () => {
      await surroundings[Symbol.asyncDispose]();
    });

    it("names each program once", () => {
      expect(new Set(programs.map(({ name }) => name)).size).toBe(programs.length);
    });

    for (const program of programs) {
      it(program.name, async () => {
        await surroundings.contain(program);
      });
    }
  });
}
