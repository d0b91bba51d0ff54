import { Gate } from "bursar";
import { expect, test } from "vitest";
import { AGENT, call, OPERATOR, openStage } from "./stage.js";

/** Nothing is executed here. */
const sandbox = () => Promise.reject(new Error("there is no sandbox here"));

test("the runs of a connection share the limits of its session, and no agent takes another", async () => {
  await using stage = await openStage({ sandbox, session: "team", parent: "session:team" });
  using gate = new Gate({ store: stage.bursar.store });
  for (const name of ["team", "other"]) {
    await gate.open(`session:${name}`, { scope: "shared", limits: { steps: 4, llm_tokens: null } });
  }
  const [agent, operator] = [await stage.connect(AGENT), await stage.connect(OPERATOR)];
  const wish = { program: "writer", input: { words: 2 }, wait_ms: 60_000 };

  const elsewhere = { ...wish, session: "other" };
  expect((await call(operator, "run_start", elsewhere)).said).toMatchObject({ status: "completed" });
  const first = await call(agent, "run_start", wish);
  expect(first.said).toMatchObject({ status: "completed", usage: { steps: 2 } });
  expect(await stage.bursar.find(String(first.said.run_id))).toMatchObject({ session: "team" });
  // To start each of the two was a step of the session's too, so that none is left.
  const second = await call(agent, "run_start", { ...wish, session: "team" });
  expect([second.isError, second.text]).toEqual([true, expect.stringContaining("steps")]);

  for (const tool of ["run_start", "run_estimate"]) {
    const { wait_ms: _, ...asked } = elsewhere;
    const refused = await call(agent, tool, asked);
    expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("belongs to the session team")]);
  }
});
