import type { Sandbox } from "@bursar/sandbox";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openMcp } from "../../src/mcp/mcp.js";
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

test("content is bounded before anything is done with it, also where no request is", async () => {
  const { bursar } = stage;
  await using connection = openMcp({
    ...{ bursar, sandbox: async () => sandbox, packagesFolder: "/nonexistent", version: "0" },
    ...{ principal: AGENT, human: null },
  });
  const local = new Client({ name: "test", version: "0" });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([connection.server.connect(other), local.connect(one)]);
  const wish = { session_id, action: "write", path: "a.bin", encoding: "base64" };
  const { isError, text } = await call(local, "session_files", { ...wish, content: " ".repeat(6_291_457) });
  expect([isError, text]).toEqual([true, expect.stringContaining("6291456")]);
});
