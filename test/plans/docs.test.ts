import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { FORM_NAMES } from "../../packages/bursar/src/plans/forms/names.js";
import { BUILTINS } from "../../packages/bursar/src/plans/library/library.js";
import { compilePlan } from "../../packages/bursar/src/plans/plans.js";
import { HOST_EFFECTS } from "../../packages/bursar/src/plans/syntax/host-effects.js";
import { Bench } from "./fixture.js";

const page = readFileSync(new URL("../../docs/PLANS.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(({ 1: kind = "", 2: text = "" }) => ({
  kind,
  text,
}));
const plans = blocks.filter(({ kind, text }) => kind === "clojure" && text.startsWith("(run"));
const refused = plans.filter(({ text }) => text.includes("; refused"));
const expressions = blocks
  .filter(({ kind, text }) => kind === "clojure" && !text.startsWith("(run"))
  .flatMap(({ text }) => text.trim().split("\n"))
  .filter((line) => line !== "")
  .map((line) => {
    const [, expression = "", value = ""] = /^(.*?)\s*; => (.*)$/.exec(line) ?? [];
    return { line, expression, value };
  });

const bench = new Bench();
afterAll(() => bench[Symbol.asyncDispose]());

interface Surroundings {
  readonly input?: unknown;
  readonly tools?: Readonly<Record<string, unknown>>;
  readonly spawn?: unknown;
}

describe("docs/PLANS.md", () => {
  test.for(expressions)("$line", async ({ expression, value }) => {
    expect(await bench.run(`(run :body ${expression})`)).toMatchObject({ stderr: "", value: JSON.parse(value) });
  });

  test.for(plans.filter((plan) => !refused.includes(plan)))("a whole plan: $text", async ({ text }) => {
    const [, surroundings = "{}"] = /^; with (.*)$/m.exec(text) ?? [];
    const [, gives = ""] = /^; gives (.*)$/m.exec(text) ?? [];
    const { input, tools = {}, spawn }: Surroundings = JSON.parse(surroundings);
    const answers = Object.fromEntries(Object.entries(tools).map(([name, answer]) => [name, () => answer]));
    // A tool whose answer the page does not tell answers nothing.
    const silent = Object.fromEntries(compilePlan(text).tools.map((name) => [name, () => null]));

    const { value, stderr } = await bench.run(text, {
      input: input ?? {},
      tools: { ...silent, ...answers },
      handlers: { spawn: () => spawn },
    });

    expect([value, stderr]).toEqual([JSON.parse(gives), ""]);
  });

  test.for(refused)("a refusal: $text", ({ text }) => {
    const next = blocks[blocks.findIndex((block) => block.text === text) + 1];

    expect(next?.kind).toBe("text");
    expect(() => compilePlan(text, { file: "plan.rtfs" })).toThrow(next?.text.trimEnd());
  });

  test("has enough to run", () => {
    expect(expressions.length).toBeGreaterThan(20);
    expect(plans.length).toBeGreaterThan(4);
    expect(refused).toHaveLength(1);
  });

  test("tells of everything there is, and of nothing else", () => {
    const known = [...FORM_NAMES, ...BUILTINS.keys(), ...HOST_EFFECTS.map(({ name }) => `call :${name}`)];
    const missing = known.filter(
      (name) =>
        !["`", "(", " ("].some((before) =>
          ["`", " ", ")", "\n"].some((after) => page.includes(`${before}${name}${after}`)),
        ),
    );
    expect(missing).toEqual([]);

    const rows = page.split("\n").filter((line) => line.startsWith("| `("));
    const named = rows.flatMap((row) =>
      [...(row.split(" | ")[0] ?? "").matchAll(/`\(([^\s):]+)/g)].map(([, name = ""]) => name),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});
