import { expect, test } from "vitest";
import { ANSWER, driven, LIMITS, OPTIONS, patient } from "./patient.js";
import { ofType, Scene } from "./scene.js";

test("a run without a limit of money has a model without a price answer it in batches", async () => {
  await using scene = await Scene.open();
  const bursar = scene.process([patient], { batches: scene.desk({ prices: {} }) });
  await scene.until(bursar.run("patient", null, { ...OPTIONS, limits: { ...LIMITS, cost_usd: null } }));
  expect(await driven(scene, bursar, "r")).toMatchObject({
    status: "completed",
    result: ANSWER,
    usage: { llm_input_tokens: 400, llm_output_tokens: 80 },
  });
  const links = await scene.links("r");
  expect(ofType(links, "Batched")).toMatchObject(Array(4).fill({ quote_usd: null, full_quote_usd: null }));
  expect(ofType(links, "CostUnknown")).toHaveLength(4);
  expect(ofType(links, "Saved")).toEqual([]);
  const charged = links.filter(({ event }) => event === "Consumption" || event === "RunCompleted");
  expect(JSON.stringify(charged)).not.toContain("cost_usd");
});

test("a price that is stated before the answer comes is charged", async () => {
  await using scene = await Scene.open();
  const bursar = scene.process([patient], { batches: scene.desk({ prices: {} }) });
  await scene.until(bursar.run("patient", null, { ...OPTIONS, limits: { ...LIMITS, cost_usd: null } }));
  const informed = scene.process([patient]);
  expect(await driven(scene, informed, "r")).toMatchObject({ status: "completed", usage: { cost_usd: 4 * 0.00007 } });
  expect(ofType(await scene.links("r"), "CostUnknown")).toEqual([]);
});

test("a run whose money is limited is refused by it", async () => {
  await using scene = await Scene.open();
  const bursar = scene.process([patient], { batches: scene.desk({ prices: {} }) });
  const result = await scene.until(bursar.run("patient", null, OPTIONS));
  expect(JSON.stringify(result)).toContain("there is no price for the model");
  expect(scene.server.batches).toEqual([]);
});
