import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { effectiveBudget, PRESETS, readConfig } from "../../src/config/config.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { complaints, limitsOf, problemsOf } from "./helpers.js";

const PAGE = readFileSync(new URL("../../../../docs/CONFIGURATION.md", import.meta.url), "utf8");
const [, WHOLE = ""] = /```yaml\n([\s\S]*?)```/.exec(PAGE) ?? [];

describe("docs/CONFIGURATION.md", () => {
  test("has a whole file that can be used", () => {
    const config = readConfig(WHOLE, { file: "bursar.yaml" });
    expect(config.notes).toEqual([]);
    expect([...config.agents.keys(), ...config.sessions.keys()]).toEqual(["researcher", "default", "nightly"]);
    const override = { limits: { steps: 300, wall_clock_ms: "5m" }, from: "--budget" };
    const question = { config, agent: "researcher", session: "nightly", override, authority: "operator" } as const;
    expect(limitsOf(effectiveBudget(question))).toMatchObject({
      steps: [300, "--budget"],
      llm_tokens: [400_000, expect.any(String)],
    });
  });

  test("names every key that is allowed, and every dimension", () => {
    const keys = [
      "governance: {x: 1}",
      "governance: {policies: {a: {zzzzzz: 1}}}",
      "governance: {agents: {a: {zzzzzz: 1}}}",
    ];
    const told = keys.flatMap((text) => complaints(text)).join(", ");
    const known = [...told.matchAll(/known: ([a-z_, ]+)/g)].flatMap(([, names = ""]) => names.split(", "));
    expect(known).toContain("wrap_up_reserve");
    for (const name of [...known, ...STANDARD.all.map(({ id }) => id), ...Object.keys(PRESETS)]) {
      expect(PAGE).toMatch(new RegExp(`\`(?:\\S*\\.)?${name}(?:\\.\\S*)?\``));
    }
  });

  test("shows a mistake and a refusal as they are told", () => {
    const lines = ["governance:", "  default_policy: house", "  policies:", "    house:", "      description: x"];
    const text = [...lines, "      budgets:", "        cots_usd: 0.5"].join("\n");
    expect(PAGE).toContain(problemsOf(text, { file: "bursar.yaml" }).message);
    const config = readConfig(WHOLE, { file: "bursar.yaml" });
    const answer = effectiveBudget({ config, override: { limits: { cost_usd: 1 } }, authority: "agent" });
    expect(answer).toMatchObject({ kind: "refused", refusals: [{ message: expect.any(String) }] });
    if (answer.kind === "refused") expect(PAGE).toContain(answer.refusals[0]?.message);
  });
});
