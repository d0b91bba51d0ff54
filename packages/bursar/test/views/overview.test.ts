import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { requestExtension } from "../../src/runs/extension-request.js";
import { Gate } from "../../src/runtime/gate.js";
import { overview } from "../../src/views/views.js";
import { Theatre } from "../runs/stage.js";

const idle = defineAgent("idle", async () => null);

test("of more runs and requests than are shown it is known how many there are", async () => {
  const theatre = new Theatre([idle]);
  const { store } = theatre;
  const bursar = theatre.process();
  const start = async (count: number) => {
    for (let run = 0; run < count; run++) await bursar.start("idle", null, { limits: { steps: 1 } });
  };
  await start(50);
  expect(await overview(store)).toMatchObject({ active_count: 50, active_more: false, waiting_count: 0 });
  await start(3);
  const gate = new Gate({ store });
  for (let number = 0; number < 51; number++) {
    await gate.open(`b${number}`, { limits: { steps: 1 } });
    await requestExtension(store, { budget: `b${number}`, dimension: "steps", action: {} });
  }
  const { active, active_count, active_more, waiting, waiting_count } = await overview(store);
  expect([active.length, active_count, active_more]).toEqual([50, 53, false]);
  expect([waiting.length, waiting_count]).toEqual([50, 51]);
  // Beyond some hundreds they are not all counted.
  await start(450);
  expect(await overview(store)).toMatchObject({ active_count: 500, active_more: true });
});
