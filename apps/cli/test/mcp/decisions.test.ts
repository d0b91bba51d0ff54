import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { Gate, hasEnded, readAmounts, sha256Hex, verifyChain } from "bursar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { AGENT, type Answer, call, type McpStage, OPERATOR, openStage, toolNames, VIEWER } from "./stage.js";

let stage: McpStage;

beforeAll(async () => {
  stage = await openStage({
    sandbox: async () => {
      throw new Error("nothing here executes code");
    },
  });
});
afterAll(() => stage[Symbol.asyncDispose]());

const DECIDING = [
  "approvals_list",
  "budget_approve",
  "budget_deny",
  "budget_extend",
  "ccos_budget_approve",
  "ccos_budget_deny",
];
/** 100 tokens for each word: it pauses at the third. */
const PAUSING = { program: "writer", input: { words: 3 }, limits: { llm_tokens: 200 } };

interface Paused {
  readonly run_id: string;
  readonly status: string;
  readonly checkpoint_id: string;
  readonly requests: readonly { readonly approval_id: string }[];
}

async function pause(client: Client): Promise<Paused> {
  const { said, isError, text } = await call(client, "run_start", PAUSING);
  expect([isError, text]).toEqual([false, expect.stringContaining("is paused")]);
  return said as never as Paused;
}

const statusOf = async (id: string) => (await stage.bursar.find(id)).status;

describe("who may do what", () => {
  test("an agent is shown no tool that decides, and calls none", async () => {
    const client = await stage.connect(AGENT);
    const names = await toolNames(client);
    expect(names.filter((name) => DECIDING.includes(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(["execute_code", "run_start", "budget_request_extension"]));
    const { run_id, checkpoint_id } = await pause(client);
    for (const name of DECIDING) {
      const { isError, text } = await call(client, name, { checkpoint_id, extensions: { llm_tokens: 1000 } });
      expect([isError, text]).toEqual([true, expect.stringContaining("not found")]);
    }
    expect(await statusOf(run_id)).toBe("paused");
  });

  test("hints extend the budget of a run that an operator starts; an agent's are refused, and nothing is started", async () => {
    const entry = { dimension: "llm_tokens", additional: 100 };
    for (const [who, budget_extend, expected] of [
      [OPERATOR, [entry], [false, expect.stringContaining("completed")]],
      [OPERATOR, entry, [false, expect.stringContaining("completed")]],
      [AGENT, [entry], [true, expect.stringContaining("give execution hints")]],
    ] as const) {
      const client = await stage.connect(who);
      const { isError, text } = await call(client, "run_start", { ...PAUSING, hints: { budget_extend } });
      expect([isError, text]).toEqual(expected);
      await client.close();
    }
  });

  test("an operator extends any budget unasked, and the chain says who did", async () => {
    const operator = await stage.connect(OPERATOR);
    const extend = (wish: Record<string, unknown>) => call(operator, "budget_extend", wish);
    await stage.bursar.openSession("mcp-crew", { cost_usd: 1, steps: 5 });
    const granted = await extend({ budget_id: "session:mcp-crew", extensions: { cost_usd: 0.5 }, reason: "one more" });
    expect(granted.said).toMatchObject({
      budgets: [{ budget_id: "session:mcp-crew", limits: { cost_usd: 1.5, steps: 5 } }],
    });
    const { run_id } = await pause(operator);
    expect((await extend({ run_id, extensions: { llm_tokens: 1000 } })).said).toMatchObject({
      budgets: [{ budget_id: run_id, limits: { llm_tokens: 1200 } }],
    });
    const links: string[] = [];
    for await (const line of stage.bursar.store.chain("session:mcp-crew")) links.push(line);
    expect(links.filter((line) => line.includes('"event":"Extended"')).join("")).toContain('"one more"');
    const mistakes = [
      [{ extensions: { steps: 1 } }, "not clear which budget"],
      [{ run_id, budget_id: "session:mcp-crew", extensions: { steps: 1 } }, "not clear which budget"],
      [{ run_id, extensions: {} }, "Nothing would be added"],
      [{ run_id: "nobody", extensions: { steps: 1 } }, "There is no run"],
      [{ budget_id: "session:nobody", extensions: { steps: 1 } }, "There is no budget"],
      [{ budget_id: "session:mcp-crew", extensions: { llm_tokens: 1 } }, "llm_tokens"],
      [{ run_id, extensions: { stps: 1 } }, "stps"],
    ] as const;
    for (const [wish, message] of mistakes) {
      expect(await extend(wish)).toMatchObject({ isError: true, text: expect.stringContaining(message) });
    }
  });

  test("a viewer only looks", async () => {
    const client = await stage.connect(VIEWER);
    expect(await toolNames(client)).toEqual(["budget_status", "run_status"]);
  });

  test("an agent may only tighten", async () => {
    const client = await stage.connect(AGENT);
    const wider = await call(client, "run_start", { program: "writer", limits: { cost_usd: 100 } });
    expect([wider.isError, wider.text]).toEqual([true, expect.stringContaining("may only tighten")]);
    const operator = await stage.connect(OPERATOR);
    expect((await call(operator, "run_start", { program: "writer", limits: { cost_usd: 100 } })).said).toMatchObject({
      status: "completed",
      result: "1 words",
    });
  });

  test("an agent cancels what it has started, and nothing else", async () => {
    const [agent, operator] = [await stage.connect(AGENT), await stage.connect(OPERATOR)];
    const mine = await call(agent, "run_start", { program: "sleeper", limits: {}, wait_ms: 0 });
    const theirs = await call(operator, "run_start", { program: "sleeper", wait_ms: 0 });
    const refused = await call(agent, "run_cancel", { run_id: theirs.said.run_id });
    expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("somebody else")]);
    expect((await call(agent, "run_cancel", { run_id: mine.said.run_id, reason: "done" })).said).toMatchObject({
      status: "cancelled",
    });
    expect((await call(operator, "run_cancel", { run_id: theirs.said.run_id })).said).toMatchObject({
      status: "cancelled",
    });
  });
});

describe("a paused run", () => {
  test("names the request, its address and the command line", async () => {
    const client = await stage.connect(AGENT);
    const { said, text } = await call(client, "run_start", PAUSING);
    const [request] = (said as never as { requests: Record<string, unknown>[] }).requests;
    expect(request).toMatchObject({
      kind: "budget_extension",
      exhausted_dimension: "llm_tokens",
      suggested_extension: { llm_tokens: 100 },
      approval_url: `http://127.0.0.1:8787/approvals/${String(request?.approval_id)}`,
      command: `bursar approve ${String(request?.approval_id)}`,
    });
    expect(text).toContain(String(request?.approval_url));
    expect(text).toContain("Only a person can answer it: at http");
  });

  test("tells an operator's connection that it may answer itself, and how", async () => {
    const { text } = await call(await stage.connect(OPERATOR), "run_start", PAUSING);
    expect(text).toContain("Answer it with budget_approve or budget_deny once the user has decided");
    expect(text).not.toContain("Only a person");
  });

  test.each(["budget_approve", "ccos_budget_approve"])(
    "approved with %s by its checkpoint, completes",
    async (name) => {
      const agent = await stage.connect(AGENT);
      const { run_id, checkpoint_id } = await pause(agent);
      const operator = await stage.connect(OPERATOR);
      const args = { checkpoint_id, extensions: { llm_tokens: 500 }, reason: "go on" };
      const { said, isError } = await call(operator, name, args);
      expect(isError).toBe(false);
      expect(said).toMatchObject({
        request: { status: "approved" },
        run: { run_id, status: "completed", result: "3 words", usage: { llm_tokens: 300 } },
      });
      const lines = await linesOf(run_id);
      expect((await verifyChain(lines, { hash: sha256Hex })).ok).toBe(true);
      expect(lines.join("\n")).toContain('"by":"ann"');
      expect((await call(agent, "run_status", { run_id })).said).toMatchObject({ status: "completed" });
    },
  );

  test("approve gives the next pause, when there is one", async () => {
    const operator = await stage.connect(OPERATOR);
    const { said } = await call(operator, "run_start", { ...PAUSING, input: { words: 4 } });
    const { run_id, checkpoint_id } = said as never as Paused;
    const least = await call(operator, "budget_approve", { checkpoint_id, extensions: { llm_tokens: 10 } });
    expect(least).toMatchObject({ isError: true, text: expect.stringMatching(/add at least \d+ tokens/) });
    const [, amount] = /llm_tokens=\+(\d+)/.exec(least.text) ?? [];
    const little = await call(operator, "budget_approve", {
      checkpoint_id,
      extensions: { llm_tokens: Number(amount) },
    });
    expect(little.said).toMatchObject({ run: { run_id, status: "paused", requests: [{ status: "pending" }] } });
    const { run } = little.said as never as { run: Paused };
    const enough = await call(operator, "budget_approve", { checkpoint_id: run.requests[0]?.approval_id });
    expect(enough.said).toMatchObject({ run: { status: "completed" } });
  });

  test.each(["budget_deny", "ccos_budget_deny"])("denied with %s, is cancelled", async (name) => {
    const operator = await stage.connect(OPERATOR);
    const { run_id, checkpoint_id } = await pause(operator);
    const { said } = await call(operator, name, { checkpoint_id, reason: "too dear" });
    expect(said).toMatchObject({ request: { status: "denied" }, run: { run_id, status: "cancelled" } });
  });

  test("two at once decide once", async () => {
    const [one, two] = [await stage.connect(OPERATOR), await stage.connect(OPERATOR)];
    const { run_id, checkpoint_id, requests } = await pause(one);
    const id = requests[0]?.approval_id;
    const answers: Answer[] = await Promise.all([
      call(one, "budget_approve", { checkpoint_id: id, extensions: { llm_tokens: 500 } }),
      call(two, "budget_deny", { checkpoint_id: id }),
      call(two, "budget_approve", { checkpoint_id, extensions: { llm_tokens: 500 } }),
    ]);
    const lost = answers.filter(({ isError }) => isError);
    expect(lost).toHaveLength(2);
    for (const { text } of lost) expect(text).toMatch(/already|nothing was decided/);
    const run = await stage.bursar.find(run_id);
    expect(hasEnded(run)).toBe(true);
    const { limits = {}, extended } = (await stage.bursar.store.budget(run.budget)) as never as {
      limits: Record<string, number>;
      extended: Record<string, number>;
    };
    expect([limits.llm_tokens, extended.llm_tokens ?? 0]).toEqual([200, run.status === "completed" ? 500 : 0]);
  });

  test("what cannot be decided says why", async () => {
    const operator = await stage.connect(OPERATOR);
    const { checkpoint_id } = await pause(operator);
    const answers = [
      await call(operator, "budget_approve", { checkpoint_id: "nobody" }),
      await call(operator, "budget_approve", { checkpoint_id, extensions: { lm_tokens: 1 } }),
      await call(operator, "budget_approve", { checkpoint_id, extensions: { llm_tokens: -5 } }),
      await call(operator, "budget_approve", { checkpoint_id, extensions: { llm_tokens: 1e30 } }),
      await call(operator, "budget_approve", {}),
    ];
    for (const { isError, text } of answers) {
      expect(isError).toBe(true);
      expect(text).not.toContain("\n    at ");
    }
    const { said } = await call(operator, "approvals_list");
    expect(
      (said.requests as never as { checkpoint_id: string }[]).some((each) => each.checkpoint_id === checkpoint_id),
    ).toBe(true);
  });
});

/** A client whose person answers. */
const answering = (answer: (message: string, schema: Record<string, unknown>) => ElicitResult) => ({
  capabilities: { elicitation: { form: {} } },
  prepare: (client: Client) => {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      const { requestedSchema } = params as { requestedSchema: { properties: Record<string, unknown> } };
      return answer(params.message, requestedSchema.properties);
    });
  },
});

describe("elicitation", () => {
  test("the person at an operator's client is asked right there, with amounts", async () => {
    const asked: string[] = [];
    const client = await stage.connect(
      OPERATOR,
      answering((message, properties) => {
        asked.push(message);
        expect(properties.llm_tokens).toMatchObject({ type: "number", default: 100 });
        return { action: "accept", content: { decision: "approve", llm_tokens: 400, reason: "fine" } };
      }),
    );
    const { said } = await call(client, "run_start", PAUSING);
    expect(said).toMatchObject({ status: "completed", result: "3 words" });
    expect(asked).toEqual([expect.stringContaining("200 of 200 llm_tokens used")]);
  });

  test("a no ends the run; a dialogue that is closed leaves it open", async () => {
    const denying = await stage.connect(
      OPERATOR,
      answering(() => ({ action: "accept", content: { decision: "deny", reason: "no" } })),
    );
    expect((await call(denying, "run_start", PAUSING)).said).toMatchObject({ status: "cancelled" });
    const leaving = await stage.connect(
      OPERATOR,
      answering(() => ({ action: "cancel" })),
    );
    expect((await call(leaving, "run_start", PAUSING)).said).toMatchObject({
      status: "paused",
      requests: [{ status: "pending" }],
    });
  });

  test("a yes that adds nothing grants nothing, and says so", async () => {
    const client = await stage.connect(
      OPERATOR,
      answering((_, properties) => ({
        action: "accept",
        content: { decision: "approve", ["steps" in properties ? "steps" : "llm_tokens"]: 0 },
      })),
    );
    const run = await call(client, "run_start", PAUSING);
    expect(run.said).toMatchObject({ status: "paused", requests: [{ status: "pending" }] });
    expect(run.text).toContain("added nothing");
    const asked = await call(client, "budget_request_extension", { dimension: "steps", reason: "more" });
    expect(asked.said).toMatchObject({ request: { status: "pending" } });
    expect(asked.text).toContain("added nothing");
    const again = await call(client, "budget_request_extension", {
      dimension: "llm_tokens",
      reason: "more",
      run_id: run.said.run_id,
    });
    expect(again.text).toContain("added nothing");
  });

  test("an agent's client over HTTP is not asked: it could answer for itself", async () => {
    let asked = 0;
    const client = await stage.connect(
      AGENT,
      answering(() => {
        asked++;
        return { action: "accept", content: { decision: "approve", llm_tokens: 1000 } };
      }),
    );
    expect((await call(client, "run_start", PAUSING)).said).toMatchObject({ status: "paused" });
    const wish = { dimension: "fuel", reason: "more" };
    expect((await call(client, "budget_request_extension", wish)).said).toMatchObject({
      request: { status: "pending" },
    });
    expect(asked).toBe(0);
  });

  test("more budget for code is asked for in the same way", async () => {
    const client = await stage.connect(
      OPERATOR,
      answering((message) => {
        expect(message).toContain("a large table");
        return { action: "accept", content: { decision: "approve", fuel: 7_000_000_000 } };
      }),
    );
    const wish = { dimension: "fuel", reason: "a large table" };
    const { said } = await call(client, "budget_request_extension", wish);
    expect(said).toMatchObject({ request: { status: "approved" } });
    const status = await call(client, "budget_status");
    expect(status.said).toMatchObject({ budgets: [{ owner: "connection", remaining: { fuel: 107_000_000_000 } }] });
  });
});

test("what others hold is told apart from what is used, to the model and to the person", async () => {
  const { store } = stage.bursar;
  using gate = new Gate({ store });
  await gate.open("crew", { limits: { cost_usd: 2 }, scope: "shared" });
  const asked = readAmounts({ cost_usd: 1.5 });
  await store.apply([{ op: "reserve", budget: "crew", call: "c", kind: "model", capability_id: "model:x", asked }]);
  const messages: string[] = [];
  const client = await stage.connect(
    OPERATOR,
    answering((message) => {
      messages.push(message);
      return { action: "cancel" };
    }),
  );
  const wish = { dimension: "cost_usd", reason: "more", budget_id: "crew" };
  const { said, text } = await call(client, "budget_request_extension", wish);
  expect(said).toMatchObject({ request: { consumed: { cost_usd: 0 }, held: { cost_usd: 1.5 } } });
  expect(text).toContain(
    "cost_usd: The request does not say how much is needed; $2.00 is left, 1.5 held for calls under way",
  );
  expect(messages).toEqual([expect.stringContaining("(0 of 2 cost_usd used, 1.5 held for calls under way)")]);
  const { requests } = (await call(client, "approvals_list")).said as never as { requests: object[] };
  expect(requests).toContainEqual(expect.objectContaining({ budget_id: "crew", held: { cost_usd: 1.5 } }));
});

test("an agent asks for its own runs alone", async () => {
  const [agent, operator] = [await stage.connect(AGENT), await stage.connect(OPERATOR)];
  const { run_id: theirs } = await pause(operator);
  const wish = { dimension: "llm_tokens", reason: "more" };
  const refused = await call(agent, "budget_request_extension", { ...wish, run_id: theirs });
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining("neither yours")]);
  const { run_id, requests } = await pause(agent);
  const { said } = await call(agent, "budget_request_extension", { ...wish, run_id });
  expect(said).toMatchObject({ request: { approval_id: requests[0]?.approval_id } });
  const odd = await call(agent, "budget_request_extension", { ...wish, run_id, dimension: "depth" });
  expect([odd.isError, odd.text]).toEqual([true, expect.stringContaining("llm_tokens")]);
});

describe("the tools of the specification", () => {
  let operator: Client;
  beforeAll(async () => {
    operator = await stage.connect(OPERATOR);
  });
  afterAll(() => operator.close());

  const decided = async (tool: string, more: object) => {
    const { run_id, checkpoint_id } = await pause(operator);
    const { said } = await call(operator, tool, { checkpoint_id, ...more });
    const { run } = said as never as { run: Record<string, unknown> };
    return { run, chain: (await linesOf(run_id)).join("\n") };
  };
  const approved = (more: object) => decided("ccos_budget_approve", more);
  const denied = (more: object) => decided("ccos_budget_deny", more);

  scenario("004/approve-tool", async () => {
    expect(await toolNames(operator)).toContain("ccos_budget_approve");
  });

  scenario("004/approve-input-checkpoint-id", async () => {
    expect((await approved({})).run).toMatchObject({ status: "completed", result: "3 words" });
  });

  scenario("004/approve-input-extensions", async () => {
    const { chain } = await approved({ extensions: { llm_tokens: 500, steps: 2 } });
    expect(chain).toMatch(/"additional":500,.*"dimension":"llm_tokens"/);
    expect(chain).toMatch(/"additional":2,.*"dimension":"steps"/);
  });

  scenario("004/approve-input-reason", async () => {
    expect((await approved({ reason: "worth every token" })).chain).toContain('"reason":"worth every token"');
    expect((await approved({})).run).toMatchObject({ status: "completed" });
  });

  scenario("004/deny-tool", async () => {
    expect(await toolNames(operator)).toContain("ccos_budget_deny");
  });

  scenario("004/deny-input-checkpoint-id", async () => {
    expect((await denied({})).run).toMatchObject({ status: "cancelled" });
  });

  scenario("004/deny-input-reason", async () => {
    expect((await denied({ reason: "too dear" })).chain).toContain('"reason":"too dear"');
  });
});

async function linesOf(run: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of stage.bursar.store.chain(run)) lines.push(line);
  return lines;
}
