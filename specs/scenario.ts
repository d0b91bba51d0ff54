import { type TestFunction, test } from "vitest";
import { type RequirementId, requirement } from "./manifest.js";

/**
 * A test that proves a requirement. The id is written out at the call, because `test/specs.test.ts` reads the sources to
 * see which requirements are proven; the note tells several tests of one requirement apart.
 *
 * ```ts
 * scenario("002/record-cost", "of two calls", () => {
 *   const controller = new BudgetController();
 *
 *   controller.record({ cost: 0.1 });
 *   controller.record({ cost: 0.2 });
 *
 *   expect(controller.getUsage().cost).toBe(0.3);
 * });
 * ```
 */
export function scenario(id: RequirementId, proof: TestFunction): void;
export function scenario(id: RequirementId, note: string, proof: TestFunction): void;
export function scenario(id: RequirementId, ...rest: [TestFunction] | [string, TestFunction]): void {
  const { title } = requirement(id);
  const [note, proof] = rest.length === 1 ? [undefined, rest[0]] : rest;
  test(note === undefined ? `${id}: ${title}` : `${id}: ${title} (${note})`, proof);
}
