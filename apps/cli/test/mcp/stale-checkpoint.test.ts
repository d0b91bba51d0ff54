import { expect, test } from "vitest";
import { call, OPERATOR, openStage } from "./stage.js";

/** 100 tokens for each word: it pauses at the third, and again at the fourth when it gets no more than that one needs. */
const PAUSING = { program: "writer", input: { words: 4 }, limits: { llm_tokens: 200 } };

test("a run is not decided over by who names a checkpoint where it does not stand any more", async () => {
  await using stage = await openStage({
    sandbox: async () => {
      throw new Error("nothing here executes code");
    },
  });
  const operator = await stage.connect(OPERATOR);
  const { said } = await call(operator, "run_start", PAUSING);
  const { run_id, checkpoint_id } = said as never as { run_id: string; checkpoint_id: string };
  const first = await call(operator, "budget_approve", { checkpoint_id, extensions: { llm_tokens: 100 } });
  expect(first.said).toMatchObject({ run: { run_id, status: "paused" } });
  for (const id of [checkpoint_id, `${run_id}/checkpoint`]) {
    const late = await call(operator, "budget_approve", { checkpoint_id: id, extensions: { llm_tokens: 500 } });
    expect(late).toMatchObject({ isError: true, text: expect.stringContaining("nothing was decided") });
  }
  expect((await stage.bursar.find(run_id)).status).toBe("paused");
});
