import { defineAgent, InputError, MemoryStore, openBursar, type Principal, type Program } from "bursar";
import { readConfig, shippedConfig } from "bursar/config";
import { expect, test } from "vitest";
import { startingBy } from "../../src/app/runs/start-runs.js";

const writer = defineAgent("writer", async () => null);

test.each([
  [{ limits: { stepz: 3 } }, "limits.stepz", "is not a dimension; did you mean steps?"],
  [{ limits: { steps: -1 } }, "limits.steps", "limits.steps is -1; allowed: a whole number"],
  [{ policies: { stepz: "hard_stop" } }, "policies.stepz", "is not a dimension; did you mean steps?"],
])("a wish of %o is the client's fault, and it is told which part", async (wish, field, message) => {
  await using store = new MemoryStore();
  await using bursar = openBursar({ store, programs: [writer] });
  const start = startingBy(bursar, shippedConfig());

  const fault = await start({ program: writer, input: null, ...(wish as object) }, OPERATOR).catch((error) => error);

  expect(fault).toBeInstanceOf(InputError);
  expect(fault).toMatchObject({ field, message: expect.stringContaining(message) });
});

test("a program that an agent sends gets what every program gets, whatever it calls itself", async () => {
  await using store = new MemoryStore();
  const dollars = (name: string) => (name === "writer" ? 20 : name === "nightly" ? 40 : 0.5);
  const governance = (name: string) => ({ limits: { cost_usd: dollars(name) } });
  await using bursar = openBursar({ store, programs: [writer], governance });
  const config = readConfig(`
governance:
  agents:
    writer: { budgets: { cost_usd: 20 } }
    nightly: { budgets: { cost_usd: 40 } }
`);
  const start = startingBy(bursar, config);
  const dollarsOf = async (program: Program, by: Principal) => {
    const { budget } = await start({ program, input: null }, by);
    return (await store.budget(budget))?.limits.cost_usd;
  };
  const sent = defineAgent("nightly", async () => null);

  expect(await dollarsOf(sent, AGENT)).toBe(500_000_000);
  expect(await dollarsOf(writer, AGENT)).toBe(20_000_000_000);
  expect(await dollarsOf(sent, OPERATOR)).toBe(40_000_000_000);
});

const AGENT = { name: "robot", role: "agent" } as const;
const OPERATOR = { name: "ann", role: "operator" } as const;
