import { defineAgent, InputError, MemoryStore, openBursar } from "bursar";
import { shippedConfig } from "bursar/config";
import { expect, test } from "vitest";
import { startingBy } from "../../src/mcp/terms.js";

const writer = defineAgent("writer", async () => null);

test.each([
  [{ limits: { stepz: 3 } }, "limits.stepz", "limits.stepz is not a dimension; did you mean steps?"],
  [{ limits: { steps: -1 } }, "limits.steps", "limits.steps is -1; allowed: a whole number"],
  [{ policies: { stepz: "hard_stop" } }, "policies.stepz", "policies.stepz is not a dimension"],
])("a wish of %o is the client's fault, and it is told which part", async (wish, field, message) => {
  await using store = new MemoryStore();
  await using bursar = openBursar({ store, programs: [writer] });
  const start = startingBy(bursar, shippedConfig());

  const fault = await start({ program: writer, input: null, ...(wish as object) }, OPERATOR).catch((error) => error);

  expect(fault).toBeInstanceOf(InputError);
  expect(fault).toMatchObject({ field, message: expect.stringContaining(message) });
});

const OPERATOR = { name: "ann", role: "operator" } as const;
