import { ADMISSION } from "./kit/admission.js";
import { CUTTING } from "./kit/cutting.js";
import { FAULTS } from "./kit/faults.js";
import { HISTORY } from "./kit/history.js";
import { KEEPING } from "./kit/keeping.js";
import { inScene, type OpenStore } from "./kit/scene.js";
import { SETTLEMENT } from "./kit/settlement.js";
import { TREE } from "./kit/tree.js";

/** The two functions every test runner has. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: () => Promise<void>): unknown;
}

/**
 * Everything a store has to do right, as tests. A store is done when they are green.
 *
 * @example
 * ```ts
 * import { describe, test } from "vitest";
 *
 * describeStore("my store", async ({ clock, dimensions }) => new MyStore({ clock, dimensions }), { describe, test });
 * ```
 */
export function describeStore(name: string, open: OpenStore, { describe, test }: TestRunner): void {
  const groups = {
    admission: ADMISSION,
    settlement: SETTLEMENT,
    cutting: CUTTING,
    tree: TREE,
    keeping: KEEPING,
    faults: FAULTS,
    history: HISTORY,
  };
  describe(name, () => {
    for (const [group, cases] of Object.entries(groups)) {
      describe(group, () => {
        for (const { name: what, run } of cases) test(what, () => inScene(open, run));
      });
    }
  });
}
