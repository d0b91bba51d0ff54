import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { compilePlan, readExecutionContext } from "../../packages/bursar/src/plans/plans.js";
import { Bench } from "./fixture.js";

const bench = new Bench();
afterAll(() => bench[Symbol.asyncDispose]());

function example(name: string): string {
  return readFileSync(new URL(`../../examples/plans/${name}.rtfs`, import.meta.url), "utf8");
}

describe("the example", () => {
  test.for([
    [{ kind: "refund", amount: 15 }, "refund", 1],
    [{ kind: "refund", amount: 500 }, "hand-over", 0],
    [{ kind: "question", amount: null }, "answer", 0],
  ] as const)("support-reply does what was decided for %j", async ([wish, decision, times]) => {
    const texts = [JSON.stringify(wish), "Dear Anna, …"];
    const { value, asked } = await bench.run(example("support-reply"), {
      input: { message: "my kettle leaks", "customer-id": 7 },
      tools: { "crm/find": () => ({ id: 7, name: "Anna" }), "payments/refund": () => ({ ok: true }) },
      handlers: { llm: () => ({ text: texts.shift() }) },
    });

    expect(value).toEqual({ decision, reply: "Dear Anna, …" });
    const used = asked.map(({ args }) => (args as { name?: string }).name);
    expect(used.filter((name) => name === "payments/refund")).toHaveLength(times);
  });

  test("research runs a child for every question, and keeps what went well", async () => {
    const plan = compilePlan(example("research"));
    const [child] = plan.children;
    const tools = {
      "web/search": ({ query }: { query: string }) => ({
        hits: [{ url: `http://a/${query.length}` }, { url: "http://b" }],
      }),
      "web/fetch": ({ url }: { url: string }) => ({ text: `text of ${url}` }),
    };
    const { value, asked } = await bench.runPlan(plan, {
      input: { topic: "kettles", questions: ["good?", "bad?"] },
      handlers: {
        llm: () => ({ text: "all in all" }),
        spawn: async (args) => {
          const { input } = args as { input: { question: string } };
          if (input.question === "bad?") throw new Error("out of steps");
          const answered = { input, tools, handlers: { llm: () => ({ text: "very" }) } };
          return (await bench.runPlan(child ?? { code: "" }, answered)).value;
        },
      },
    });

    expect(value).toEqual({
      topic: "kettles",
      findings: [{ question: "good?", sources: ["http://a/13", "http://b"], answer: "very" }],
      failed: ["bad?"],
      summary: "all in all",
    });
    expect(asked[0]?.args).toMatchObject({ program: { kind: "child", index: 0 }, limits: { steps: 6 } });
    expect(child?.tools).toEqual(["web/search", "web/fetch"]);
  });

  test("invoices goes on while there is budget, and tells where it stopped", async () => {
    const pages: Record<string, unknown> = {
      start: { invoices: [{ id: 1, total: 5, lines: [{ price: 2.5, count: 2 }] }], next: "two" },
      two: { invoices: [{ id: 2, total: 9, lines: [{ price: 2, count: 4 }] }], next: null },
    };
    const run = (left: readonly number[]) => {
      const rest = [...left];
      return bench.run(example("invoices"), {
        input: { cursor: "start" },
        tools: { "books/invoices": ({ cursor }: { cursor: string }) => pages[cursor] },
        handlers: { budget: () => ({ remaining: { steps: rest.shift() } }) },
      });
    };

    const whole = await run([60, 59]);
    expect(whole.value).toEqual({ done: true, seen: 2, wrong: [{ id: 2, stated: 9, computed: 8 }] });
    expect(whole.stdout).toBe("checked 1 invoices, 0 wrong\nchecked 2 invoices, 1 wrong\n");
    expect((await run([60, 4])).value).toEqual({ done: false, "go-on-at": "two", seen: 1, wrong: [] });
  });
});

describe("as the specification prints it,", () => {
  test("a run overrides its budget", () => {
    const { budget } = compilePlan(`(run
  :budget {:steps 100
           :cost-usd 1.0
           :policies {:cost-usd :approval-required}}
  :body (do 1))`);

    expect(budget).toMatchObject({
      limits: { steps: 100, cost_usd: 1 },
      policies: { cost_usd: "approval_required" },
    });
  });

  test("an execution context holds the limits of a session", () => {
    const { session } = readExecutionContext(`{:session_budget_limits
  {:steps 200
   :wall_clock_ms 600000
   :llm_tokens 200000
   :cost_usd 1.0
   :network_egress_bytes 10485760
   :storage_write_bytes 52428800}}`);

    expect(session?.limits).toEqual({
      steps: 200,
      wall_clock_ms: 600000,
      llm_tokens: 200000,
      cost_usd: 1,
      network_egress_bytes: 10485760,
      storage_write_bytes: 52428800,
    });
  });

  test.for([
    ["", "1:1 there is nothing in this text"],
    ["1", "1:1 1 is no execution context"],
    ["{} {}", "1:4 this is a second form"],
    ["{:session_budget_limit {}}", "1:2 an execution context has no :session_budget_limit; did you mean"],
    ["{:session_budget_limits {} :session-budget-limits {}}", "1:28 :session-budget-limits is given twice"],
    ["{:session_budget_limits {:stepz 1}}", "1:26 :stepz is not a dimension; did you mean :steps?"],
  ] as const)("and nothing else: %s", ([text, problem]) => {
    expect(() => readExecutionContext(text)).toThrow(`<context>:${problem}`);
  });

  test("and a context without limits has none", () => {
    expect(readExecutionContext("{}")).toEqual({ session: null });
  });
});
