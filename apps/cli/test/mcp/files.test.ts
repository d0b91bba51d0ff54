import type { Sandbox } from "@bursar/sandbox";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openMcp } from "../../src/mcp/mcp.js";
import { Workplace } from "../../src/mcp/workplace.js";
import { AGENT, call, type McpStage, openStage, openTestSandbox } from "./stage.js";

let sandbox: Sandbox;
let stage: McpStage;
let client: Client;
let session_id: unknown;

beforeAll(async () => {
  sandbox = await openTestSandbox();
  stage = await openStage({ sandbox: async () => sandbox });
  client = await stage.connect(AGENT);
  ({ session_id } = (await call(client, "create_session", { language: "javascript" })).said);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

const write = (content: string) =>
  call(client, "session_files", { session_id, action: "write", path: "a.bin", content, encoding: "base64" });

test("base64 may be broken into lines", async () => {
  expect((await write("AP8\r\n AQ\n==\n")).said).toMatchObject({ size: 3 });
});

test("what is no base64 is refused at once, however long it is", async () => {
  // A pattern that tries every way to divide the spaces would not come back from this.
  for (const content of [`${" ".repeat(3_000_000)}!`, `${"A".repeat(3_000_000)}!`, `${"=".repeat(3_000_000)}`]) {
    const { isError, text } = await write(content);
    expect([isError, text]).toEqual([true, expect.stringContaining("no base64")]);
  }
});

/** A client with a workplace that the test knows too. */
async function beside(workplace: Workplace) {
  const { bursar, programs } = stage;
  const connection = openMcp({
    bursar,
    programs,
    sandbox: async () => sandbox,
    packagesFolder: "/nonexistent",
    version: "0",
    principal: AGENT,
    human: null,
    workplace,
  });
  const local = new Client({ name: "test", version: "0" });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([connection.server.connect(other), local.connect(one)]);
  return { local, [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose]() };
}

const openWorkplace = () =>
  new Workplace({
    store: stage.bursar.store,
    sandbox: async () => sandbox,
    packagesFolder: "/nonexistent",
    name: `mcp:${crypto.randomUUID()}`,
  });

test("what is written while a session is made anew is in the new one", async () => {
  await using workplace = openWorkplace();
  await using at = await beside(workplace);
  const { id } = await workplace.sessions.create({ language: "javascript" });
  const made = workplace.sessions.remake(id, (packages) => [...packages], new AbortController().signal);
  const wish = { session_id: id, path: "late.txt" };
  expect(await call(at.local, "session_files", { ...wish, action: "write", content: "late" })).toMatchObject({
    isError: false,
  });
  await made;
  expect((await call(at.local, "session_files", { ...wish, action: "read" })).said).toMatchObject({ content: "late" });
});

test("an input that is nested too deeply is the client's to know, and no fault of ours", async () => {
  await using workplace = openWorkplace();
  await using at = await beside(workplace);
  const before = stage.errors.length;
  let input: unknown = 1;
  for (let level = 0; level < 20_000; level++) input = [input];
  const { isError, text } = await call(at.local, "run_start", { program: "writer", input });
  expect([isError, text]).toEqual([true, expect.stringContaining("nested too deeply")]);
  expect(stage.errors.length).toBe(before);
});

test.each(["constructor", "__proto__", "toString"])("nobody is asked for more %s", async (dimension) => {
  const { isError, text } = await call(client, "budget_request_extension", { dimension, reason: "more" });
  expect([isError, text]).toEqual([true, expect.stringContaining("has no limit of")]);
});

test("content is bounded before anything is done with it, also where no request is", async () => {
  const { bursar } = stage;
  await using connection = openMcp({
    bursar,
    sandbox: async () => sandbox,
    packagesFolder: "/nonexistent",
    version: "0",
    principal: AGENT,
    human: null,
  });
  const local = new Client({ name: "test", version: "0" });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([connection.server.connect(other), local.connect(one)]);
  const wish = { session_id, action: "write", path: "a.bin", encoding: "base64" };
  const { isError, text } = await call(local, "session_files", { ...wish, content: " ".repeat(6_291_457) });
  expect([isError, text]).toEqual([true, expect.stringContaining("6291456")]);
});
