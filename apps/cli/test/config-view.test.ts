import { readConfig } from "bursar/config";
import { expect, test } from "vitest";
import { configView } from "../src/serve/config-view.js";

const TEXT = `
governance:
  agents:
    researcher:
      budgets:
        steps: 200
      exhaustion_policies:
        cost_usd: approval_required
`;
const config = readConfig(TEXT, { file: "bursar.yaml" });
const limitIn = (view: object, dimension: string) =>
  (view as { limits: readonly { dimension: string }[] }).limits.find((each) => each.dimension === dimension);

test("what a run gets is told for any program, and for one", () => {
  expect(limitIn(configView(config), "steps")).toMatchObject({ value: 50, policy: "hard_stop", origin: "default" });
  const own = configView(config, "researcher");
  expect(limitIn(own, "steps")).toMatchObject({ value: 200, origin: "agent researcher, bursar.yaml:6" });
  expect(limitIn(own, "cost_usd")).toMatchObject({ value: 0.5, policy: "approval_required", origin: "default" });
  expect(configView(config, "nobody")).toEqual(configView(config));
});

test("what a program says of its own budget is told with it", () => {
  const terms = { limits: { steps: 7, fuel: null }, policies: { steps: "soft_warn" }, from: "tight.rtfs" } as const;
  const own = configView(config, "researcher", { ...terms, session_limits: { cost_usd: 0.1 } });
  expect(limitIn(own, "steps")).toMatchObject({ value: 7, policy: "soft_warn", origin: "tight.rtfs" });
  expect(limitIn(own, "cost_usd")).toMatchObject({ value: 0.1, policy: "approval_required", origin: "tight.rtfs" });
});
