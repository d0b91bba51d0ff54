import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { sha256Hex, verifyJsonl } from "bursar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AGENT, call, type McpStage, OPERATOR, openStage, VIEWER } from "./stage.js";

let stage: McpStage;

beforeAll(async () => {
  stage = await openStage({
    mostOfOne: 3,
    sandbox: async () => {
      throw new Error("nothing here executes code");
    },
  });
});
afterAll(() => stage[Symbol.asyncDispose]());

async function textAt(client: Awaited<ReturnType<McpStage["connect"]>>, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  const [first] = contents;
  return first !== undefined && "text" in first ? first.text : "";
}

describe("resources", () => {
  test("runs, chains and budgets are listed, described by templates, and read", async () => {
    const client = await stage.connect(AGENT);
    const { said } = await call(client, "run_start", { program: "writer", input: { words: 2 } });
    const id = said.run_id as never as string;
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toEqual(expect.arrayContaining([`bursar://runs/${id}`, `bursar://runs/${id}/chain`]));
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "bursar://runs/{id}",
      "bursar://runs/{id}/chain",
      "bursar://runs/{id}/chain{?from}",
      "bursar://budgets/{id}",
      "bursar://budgets/{id}/chain",
      "bursar://budgets/{id}/chain{?from}",
    ]);
    expect(JSON.parse(await textAt(client, `bursar://runs/${id}`))).toMatchObject({ id, status: "completed" });
    const chain = await textAt(client, `bursar://runs/${id}/chain`);
    expect(await verifyJsonl(chain, { hash: sha256Hex })).toMatchObject({ ok: true });
    expect(JSON.parse(await textAt(client, `bursar://budgets/${id}`))).toMatchObject({
      budgets: [{ budget_id: id, used: { llm_tokens: 200 } }],
    });
    const own = uris.find((uri) => uri.startsWith("bursar://budgets/")) ?? "";
    expect(JSON.parse(await textAt(client, own))).toMatchObject({ budgets: [{ limits: { fuel: 100_000_000_000 } }] });
    expect(uris).toContain(`${own}/chain`);
    expect(await verifyJsonl(await textAt(client, `${own}/chain`), { hash: sha256Hex })).toMatchObject({ ok: true });
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "bursar://runs/{id}" },
      argument: { name: "id", value: id.slice(0, 5) },
    });
    expect(completion.values).toContain(id);
    await client.close();
  });

  test("the chain of a budget that is no run's is read to its end, 1000 links at a time", async () => {
    const { bursar } = stage;
    await bursar.openSession("crew", { steps: 5 });
    const action = { action_type: "Noted", data: {} };
    const links = Array.from({ length: 1200 }, () => ({ op: "record", budget: "session:crew", action }) as const);
    await bursar.store.apply(links);
    const client = await stage.connect(VIEWER);
    const first = await client.readResource({ uri: "bursar://budgets/session%3Acrew/chain" });
    const more = "bursar://budgets/session%3Acrew/chain?from=1000";
    expect(first.contents).toMatchObject([
      { _meta: { "bursar/next": 1000, "bursar/head": { chain: "session:crew", seq: 1200 } } },
      { uri: more, text: `These are links 0 to 999 of 1201; read ${more} for those that follow.` },
    ]);
    const { contents } = await client.readResource({ uri: more });
    expect(contents).toMatchObject([{ _meta: { "bursar/next": null } }]);
    const lines = [first.contents[0], contents[0]].map((each) =>
      each !== undefined && "text" in each ? each.text : "",
    );
    expect(await verifyJsonl(lines.join(""), { hash: sha256Hex })).toMatchObject({ ok: true, links: 1201 });
    expect(await textAt(client, "bursar://budgets/session%3Acrew/chain?from=5000")).toBe("");
    await client.subscribeResource({ uri: "bursar://budgets/session%3Acrew/chain" });
    await client.close();
  });

  test("the server's own chain is not among them", async () => {
    const grant = { kind: "limits", limits: {} } as const;
    const opening = { id: "bursar:server", scope: "shared", grant } as const;
    await stage.bursar.store.apply([{ op: "open", parent: null, opening }]);
    for (const principal of [AGENT, OPERATOR]) {
      const client = await stage.connect(principal);
      for (const query of ["", "?from=0"]) {
        const uri = `bursar://budgets/bursar%3Aserver/chain${query}`;
        await expect(client.readResource({ uri })).rejects.toThrow("There is no");
      }
      await client.close();
    }
  });

  test.each([
    "bursar://runs/nobody",
    "bursar://runs/nobody/chain?from=1",
    "bursar://budgets/nobody/chain",
    "bursar://budgets/nobody/chain?from=-1",
    "bursar://runs/%E0%A4%A",
    "bursar://runs/a/../b",
    "bursar://elsewhere/x",
    "file:///etc/passwd",
  ])("%s is not there", async (uri) => {
    const client = await stage.connect(VIEWER);
    await expect(client.readResource({ uri })).rejects.toThrow();
    await expect(textAt(client, uri)).rejects.not.toThrow(/node:internal/);
    await client.close();
  });

  test("whoever subscribes is told of a change", async () => {
    const client = await stage.connect(OPERATOR);
    const { said } = await call(client, "run_start", { program: "sleeper", wait_ms: 0 });
    const uri = `bursar://runs/${String(said.run_id)}`;
    let told = (_: string) => {};
    const updated = new Promise<string>((resolve) => {
      told = resolve;
    });
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => told(params.uri));
    await client.subscribeResource({ uri });
    await expect(client.subscribeResource({ uri: "file:///etc/passwd" })).rejects.toThrow("no resource");
    await call(client, "run_cancel", { run_id: said.run_id });
    expect(await updated).toBe(uri);
    await client.unsubscribeResource({ uri });
    await client.close();
  });
});

test("prompts for common questions, with what this connection may use", async () => {
  const client = await stage.connect(AGENT);
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(["explain_pause", "run_code_within_budget", "review_approvals"]);
  const { messages } = await client.getPrompt({ name: "run_code_within_budget", arguments: { goal: "sum 1 to 9" } });
  const text = JSON.stringify(messages);
  expect(text).toContain("sum 1 to 9");
  expect(text).toContain("fuel 100000000000");
  const paused = await client.getPrompt({ name: "explain_pause", arguments: { run_id: "r1" } });
  expect(JSON.stringify(paused.messages)).toContain("run r1");
  const review = await client.getPrompt({ name: "review_approvals" });
  expect(JSON.stringify(review.messages)).toContain("You cannot answer it yourself");
  await client.close();
});

test("instructions state the limits and the role", async () => {
  const [agent, operator] = [await stage.connect(AGENT), await stage.connect(OPERATOR)];
  expect(agent.getInstructions()).toMatch(/wall_clock_ms 600000.*You cannot extend a budget/);
  expect(operator.getInstructions()).toContain("You act for an operator");
  await Promise.all([agent.close(), operator.close()]);
});

describe("connections over HTTP", () => {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(stage.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const INITIALIZE = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "0" } },
  };

  test("belong to the principal who has opened them", async () => {
    const opened = await post(INITIALIZE, { "x-principal": "robot" });
    const id = opened.headers.get("mcp-session-id") ?? "";
    await opened.text();
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    const stolen = await post(list, { "x-principal": "ann", "mcp-session-id": id });
    expect(stolen.status).toBe(404);
    const own = await post(list, { "x-principal": "robot", "mcp-session-id": id });
    expect([own.status, await own.text()]).toEqual([200, expect.stringContaining("execute_code")]);
    const before = stage.connections();
    const ended = await fetch(stage.url, {
      method: "DELETE",
      headers: { "x-principal": "robot", "mcp-session-id": id },
    });
    expect([ended.status, stage.connections()]).toEqual([200, before - 1]);
  });

  test("rubbish opens none", async () => {
    const before = stage.connections();
    for (const body of ["{", "[]", "null", { jsonrpc: "2.0", id: 1, method: "tools/list" }, "x".repeat(5_000_000)]) {
      const { status } = await post(body, { "x-principal": "vic" });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
    }
    expect((await fetch(stage.url, { headers: { "x-principal": "vic" } })).status).toBe(400);
    expect(stage.connections()).toBe(before);
  });

  test("whoever was silent longest makes room; who is in use does not", async () => {
    const open = async () => {
      const response = await post(INITIALIZE, { "x-principal": "other" });
      await response.text();
      return { status: response.status, id: response.headers.get("mcp-session-id") ?? "" };
    };
    const listening = new AbortController();
    const listen = async (id: string) => {
      const headers = { accept: "text/event-stream", "x-principal": "other", "mcp-session-id": id };
      return (await fetch(stage.url, { headers, signal: listening.signal })).status;
    };
    const first = await open();
    const [second, third, fourth] = [await open(), await open(), await open()];
    expect([first, second, third, fourth].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await listen(first.id)).toBe(404);
    expect([await listen(second.id), await listen(third.id), await listen(fourth.id)]).toEqual([200, 200, 200]);
    expect((await open()).status).toBe(429);
    listening.abort();
  });
});
