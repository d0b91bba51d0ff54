import { writeFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ListeningProcess, startListening, until } from "./listening-process.js";
import { openStage, type Stage } from "./runs-stage.js";

const BODY = '(do (call :note {:word "a"}) (call :note {:word "b"}) "done")';
const TIGHT = `(run :budget {:steps 1} :body ${BODY})`;
/** The example of spec 004, section 9. */
const PRINTED = `(run :budget {:steps 100 :cost-usd 1.0 :policies {:cost-usd :approval-required}} :body ${BODY})`;
const CLAMPED = `(run :session_budget_limits {:steps 1} :body ${BODY})`;
const NESTED = `(run :body {:inner (run :budget {:steps 5} :body ${BODY}) :outer (call :note {:word "c"})})`;

let stage: Stage;
let server: ListeningProcess;
let agent: string;
const clients: Client[] = [];
beforeAll(async () => {
  stage = openStage();
  const texts = { tight: TIGHT, printed: PRINTED, clamped: CLAMPED };
  for (const [name, text] of Object.entries(texts)) writeFileSync(stage.at(`${name}.rtfs`), text);
  agent = String(stage.json("tokens", "create", "--name", "bot", "--role", "agent").said.secret);
  const programs = Object.keys(texts).flatMap((name) => ["--program", stage.at(`${name}.rtfs`)]);
  server = await startListening(["serve", "--module", stage.module, ...programs], stage.env);
});
afterAll(async () => {
  await Promise.allSettled(clients.map((client) => client.close()));
  await server?.[Symbol.asyncDispose]();
  stage?.[Symbol.dispose]();
});

type View = { readonly status: string; readonly [key: string]: unknown };

async function http(path: string, body?: object, token?: string): Promise<{ status: number; said: View }> {
  const answer = await fetch(`${server.url}/api/v1/${path}`, {
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  });
  return { status: answer.status, said: (await answer.json()) as View };
}

/** Starts a run over HTTP and waits until it stands still. */
async function overHttp(body: object, token?: string): Promise<View> {
  const { status, said } = await http("runs", body, token);
  expect([status, said]).toEqual([201, expect.anything()]);
  let view: View = said;
  await until("it stands still", async () => {
    view = (await http(`runs/${String(said.id)}`)).said;
    return !["queued", "running"].includes(view.status);
  });
  return view;
}

async function overMcp(query: string, args: object): Promise<{ isError: boolean; text: string; said: View }> {
  const client = new Client({ name: "test", version: "0" }, {});
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp${query}`));
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  clients.push(client);
  const answer = await client.callTool({ name: "run_start", arguments: { ...args, wait_ms: 30_000 } });
  const [{ text } = { text: "" }] = answer.content as readonly { text: string }[];
  return { isError: answer.isError === true, text, said: (answer.structuredContent ?? {}) as unknown as View };
}

const STOPPED = { status: "failed", failure: { dimension: "steps" }, usage: { steps: 1 } };

describe("a plan's own budget holds", () => {
  test("from the command line, in the run's own process and in a worker", async () => {
    expect(stage.json("run", stage.at("tight.rtfs"), "--module", stage.module).said).toMatchObject(STOPPED);
    const { said } = stage.json("run", stage.at("tight.rtfs"), "--module", stage.module, "--detach", "--id", "later");
    expect(said).toMatchObject({ run_id: "later" });
    await until("a worker of the server has done it", () => stage.json("show", "later").said.status !== "queued");
    await until("it has ended", () => stage.json("show", "later").said.status === "failed");
    const shown = stage.json("show", "later").said;
    expect(shown).toMatchObject({ ...STOPPED, terms: { steps: { limit: "program (tight.rtfs)", policy: "default" } } });
    expect(stage.run("show", "later").stdout).toMatch(
      /set by\n {2}steps +limit: program \(tight\.rtfs\), policy: default/,
    );
  });

  test("in an estimate of the command line, and gives way to --budget", () => {
    const steps = (...args: readonly string[]) => {
      const { dimensions } = stage.json("estimate", stage.at("tight.rtfs"), "--module", stage.module, ...args).said;
      return (dimensions as unknown as readonly { dimension: string; limit: number }[]).find(
        (each) => each.dimension === "steps",
      );
    };
    expect(steps()).toMatchObject({ limit: 1 });
    expect(steps("--budget", "steps=2")).toMatchObject({ limit: 2 });
    const wider = stage.json("run", stage.at("tight.rtfs"), "--module", stage.module, "--budget", "steps=2");
    expect(wider.said).toMatchObject({ status: "completed" });
  });

  test("over HTTP, for an operator and for an agent", async () => {
    expect(await overHttp({ program: "tight" })).toMatchObject(STOPPED);
    expect(await overHttp({ program: "tight" }, agent)).toMatchObject(STOPPED);
    expect(await overHttp({ program: "tight", limits: { steps: 5 } })).toMatchObject({ status: "completed" });
    const refused = await http("runs", { program: "tight", limits: { steps: 5 } }, agent);
    expect(refused).toMatchObject({
      status: 403,
      said: { error: { message: expect.stringContaining("only tighten") } },
    });
    const { said } = await http("estimates", { program: "tight" });
    expect(said).toMatchObject({ fits: false });
  });

  test("over MCP, for an operator and for an agent", async () => {
    expect((await overMcp("?role=operator", { program: "tight" })).said).toMatchObject({
      status: "failed",
      usage: { steps: 1 },
    });
    expect((await overMcp("", { program: "tight" })).said).toMatchObject({ status: "failed", usage: { steps: 1 } });
  });

  test("below a program of the sandbox that shares its budget", async () => {
    const code =
      'const said = await host.spawn("tight", null, { budget: "share" }).catch((e) => e.message); await host.result({ said });';
    const program = { name: "above", language: "javascript", code };
    const { children } = await overHttp({ program });
    expect(children).toEqual([expect.objectContaining({ status: "failed" })]);
  });

  test("as the specification prints it, for an operator; an agent gets what is tighter, and is told", async () => {
    const operator = await overHttp({ program: "printed" });
    const dollars = (view: View) => {
      const { budgets } = view as unknown as { budgets: readonly { dimensions: readonly { dimension: string }[] }[] };
      return budgets.at(-1)?.dimensions.find(({ dimension }) => dimension === "cost_usd");
    };
    expect(dollars(operator)).toMatchObject({ limit: 1, policy: "approval_required" });
    const tighter = await overHttp({ program: "printed" }, agent);
    expect(dollars(tighter)).toMatchObject({ limit: 0.5, policy: "hard_stop" });
    expect(tighter.terms).toMatchObject({ cost_usd: { not_granted: expect.stringContaining("asks for $1.00") } });
    expect((await overMcp("", { program: "printed" })).text).toContain(
      "Not granted, because only an operator may widen",
    );
  });

  test("with its limits for a session, where there is none, and where an operator names a new one", async () => {
    expect(stage.json("run", stage.at("clamped.rtfs"), "--module", stage.module).said).toMatchObject(STOPPED);
    expect(await overHttp({ program: "clamped" })).toMatchObject(STOPPED);
    expect(await overHttp({ program: "clamped", limits: { steps: 9 } })).toMatchObject(STOPPED);
    expect((await overMcp("", { program: "clamped" })).said).toMatchObject({ status: "failed", usage: { steps: 1 } });
    expect(await overHttp({ program: "clamped", session: "fresh" })).toMatchObject(STOPPED);
    expect((await http("runs", { program: "tight", session: "fresh" })).status).toBe(409);
    expect((await http("runs", { program: "clamped", session: "other" }, agent)).status).toBe(400);
  });
});

describe("a plan that a client sends", () => {
  test("is taken over HTTP, and its budget holds", async () => {
    const program = (code: string) => ({ name: "sent", language: "rtfs", code });
    expect(await overHttp({ program: program(TIGHT) }, agent)).toMatchObject(STOPPED);
    expect(await overHttp({ program: program(TIGHT) })).toMatchObject(STOPPED);
    expect(await overHttp({ program: program(`(run :body ${BODY})`) }, agent)).toMatchObject({ result: "done" });
  });

  test("is taken over MCP, and its budget holds", async () => {
    const code = { language: "rtfs", code: TIGHT };
    expect((await overMcp("", code)).said).toMatchObject({ status: "failed", usage: { steps: 1 } });
    expect((await overMcp("?role=operator", code)).said).toMatchObject({ status: "failed", usage: { steps: 1 } });
  });

  test("may hold further runs, each of which is its own", async () => {
    const tighter = NESTED.replace(":steps 5", ":steps 1");
    const [first, second] = await Promise.all(
      [NESTED, tighter].map((code) => overHttp({ program: { name: "twin", language: "rtfs", code } }, agent)),
    );
    expect(first).toMatchObject({ status: "completed", result: { inner: "done" } });
    expect(second).toMatchObject({ status: "failed" });
  });

  test("is refused with the place of what is wrong with it", async () => {
    const send = (code: string) => http("runs", { program: { name: "sent", language: "rtfs", code } }, agent);
    expect(await send("(run :budget {:stepz 5} :body 1)")).toMatchObject({
      status: 400,
      said: { error: { code: "invalid_plan", message: expect.stringContaining("sent.rtfs:1:15") } },
    });
    expect(await send("(run :body (call :nothing {}))")).toMatchObject({
      status: 400,
      said: { error: { message: expect.stringContaining("nobody offers the tool nothing") } },
    });
    expect(await overMcp("", { language: "rtfs", code: "(run" })).toMatchObject({ isError: true });
    const unknown = await http("runs", { program: { name: "sent", language: "ruby", code: "1" } });
    expect(unknown.said).toMatchObject({ error: { message: expect.stringContaining("python, javascript, rtfs") } });
  });
});
