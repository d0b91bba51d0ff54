import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { openScriptedModel } from "bursar/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startListening, until } from "./listening-process.js";
import { bursar, MAIN } from "./run.js";

const SECRET = "a-secret-of-the-webhook";
const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const ASK = { model: "llama-of-our-own", messages: [{ role: "user", content: "Hi" }], max_tokens: 50 };
const folder = mkdtempSync(join(tmpdir(), "bursar-announcing-"));
let stores = 0;

interface Delivery {
  readonly event: string;
  readonly approval: Readonly<Record<string, unknown>>;
}

/** Everything that was delivered, with a right signature. */
const delivered: Delivery[] = [];
const receiver = createServer(async (incoming, response) => {
  let body = "";
  for await (const piece of incoming) body += piece;
  const [, instant, sent] = /^t=(\d+),v1=(\w+)$/.exec(String(incoming.headers["bursar-signature"])) ?? [];
  const signature = createHmac("sha256", SECRET).update(`${instant}.${body}`).digest("hex");
  if (signature === sent) delivered.push(JSON.parse(body) as Delivery);
  response.end();
});
const about = (id: unknown) => delivered.filter(({ approval }) => approval.id === id).map(({ event }) => event);

beforeAll(() => new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

function environment(upstream = "http://127.0.0.1:9/v1"): Readonly<Record<string, string>> {
  const number = stores++;
  const config = join(folder, `${number}.yaml`);
  const { port } = receiver.address() as AddressInfo;
  writeFileSync(config, `webhook: {url: "http://127.0.0.1:${port}/", secret_env: WEBHOOK_SECRET}\n`);
  return {
    BURSAR_STORE: `sqlite:${join(folder, `${number}.db`)}`,
    BURSAR_CONFIG: config,
    WEBHOOK_SECRET: SECRET,
    BURSAR_UPSTREAM_OPENAI_KEY: "key-of-the-provider",
    OPENAI_BASE_URL: upstream,
    XDG_CONFIG_HOME: folder,
  };
}

test.each([
  ["gateway", []],
  ["serve", ["--most", "0"]],
] as const)("bursar %s announces what a key asks for, once, and the decision", async (command, more) => {
  await using model = await openScriptedModel({
    script: () => HELLO,
    models: [ASK.model],
    apiKey: "key-of-the-provider",
  });
  const env = environment(model.url);
  const made = bursar(
    ["keys", "create", "--limits", "steps=1", "--policies", "steps=approval_required", "--json"],
    env,
  );
  const { secret } = JSON.parse(made.stdout) as { readonly secret: string };
  const args = [command, ...more, "--price", `${ASK.model}=1,2`, "--wait", "0s", "--count", "bytes", "--json"];
  await using first = await startListening(args, env);
  await using second = await startListening(args, env);
  const ask = async (url: string) => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(ASK) });
    return { status: answer.status, text: await answer.text() };
  };
  expect((await ask(first.url)).status).toBe(200);
  const refused = await Promise.all([first, second, first, second, first].map(({ url }) => ask(url)));
  const ids = refused.map(({ text }) => /"approval_id":"([^"]+)"/.exec(text)?.[1]);
  const [id] = ids;
  expect([refused.map(({ status }) => status), new Set(ids).size]).toEqual([[402, 402, 402, 402, 402], 1]);
  await until("it is announced", () => about(id).length > 0);
  await promisify(execFile)(process.execPath, [MAIN, "approve", String(id), "--extend", "steps=+5"], {
    env: { ...process.env, ...env },
  });
  await until("the decision is announced", () => about(id).length > 1);
  expect((await ask(second.url)).status).toBe(200);
  expect(await first.end("SIGTERM")).toBe(0);
  expect(about(id)).toEqual(["approval.requested", "approval.decided"]);
});

test("bursar mcp announces what an agent asks for", async () => {
  const client = new Client({ name: "test", version: "0" }, { capabilities: {} });
  const args = [MAIN, "mcp", "--unattended"];
  const env = { ...environment(), PATH: process.env.PATH ?? "", HOME: folder };
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  const wanted = { dimension: "fuel", reason: "a large table" };
  const asked = await client.callTool({ name: "budget_request_extension", arguments: wanted });
  const { request } = asked.structuredContent as { readonly request: { readonly approval_id: string } };
  await until("it is announced", () => about(request.approval_id).length > 0);
  await client.callTool({ name: "budget_request_extension", arguments: wanted });
  await client.close();
  expect(about(request.approval_id)).toEqual(["approval.requested"]);
});

test("bursar serve takes every flag of bursar gateway", () => {
  const flagsOf = (command: string) =>
    bursar([command, "--help"])
      .stdout.match(/^ {2}--[\w-]+/gm)
      ?.map((flag) => flag.trim()) ?? [];
  expect(flagsOf("gateway").length).toBeGreaterThan(15);
  expect(flagsOf("serve")).toEqual(expect.arrayContaining(flagsOf("gateway")));
  for (const line of bursar(["serve", "--help"]).stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  const none = { ...environment(), BURSAR_UPSTREAM_OPENAI_KEY: "", OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "" };
  expect(bursar(["serve", "--assume", "1,2"], none)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("--assume is about the gateway"),
  });
  expect(bursar(["serve", "--grace", "soon"], none)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("from 0s to 1h"),
  });
});

test.for(["gateway", "serve"])("a stream that is cut when bursar %s stops is told as that", async (command) => {
  await using model = await openScriptedModel({
    script: () => ({ kind: "half", text: "word ".repeat(100), ending: "hang" }),
    models: [ASK.model],
    apiKey: "key-of-the-provider",
  });
  const env = environment(model.url);
  const args = ["--budget", "cost_usd=1", "--price", `${ASK.model}=1,2`, "--grace", "0s", "--json"];
  await using gateway = await startListening([command, ...args], env);
  const body = JSON.stringify({ ...ASK, stream: true });
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body });
  const reading = answer.text();
  expect(await gateway.end("SIGTERM")).toBe(0);
  expect(await reading).toContain('"code":"gateway_stopped"');
  if (command === "serve") return expect(gateway.stderr()).toMatch(/an answer of \S+ was cut, .*\(gateway_stopped\)/);
  expect(gateway.served()).toMatchObject([{ status: 200, stream: true, failed: "gateway_stopped", estimated: true }]);
});
