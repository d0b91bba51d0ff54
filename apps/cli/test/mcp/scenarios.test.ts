import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Bursar, defineAgent, MemoryStore, openBursar } from "bursar";
import { openServer, type Server } from "bursar/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type McpHandler, openMcpHandler } from "../../src/mcp/http-handler.js";
import { OPERATOR } from "./stage.js";

/** The protocol's own suite from npm, against our handler where it is mounted: on the server, which looks at Host and Origin. */
const SUITE = fileURLToPath(new URL("../../../../node_modules/.bin/conformance", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bursar-mcp-suite-"));

/** Those that need no fixtures; docs/MCP.md says what the others want. */
const SCENARIOS = [
  "server-initialize",
  "ping",
  "logging-set-level",
  "tools-list",
  "resources-list",
  "prompts-list",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
];

let bursar: Bursar;
let handler: McpHandler;
let server: Server;

beforeAll(async () => {
  const store = new MemoryStore();
  const idle = defineAgent("idle", async () => null);
  bursar = openBursar({ store, programs: [idle] });
  // There has to be something to be listed.
  await bursar.run(idle, null);
  const sandbox = async () => {
    throw new Error("nothing here executes code");
  };
  handler = openMcpHandler({ bursar, sandbox, packagesFolder: folder, version: "0.0.0" });
  const mcp: typeof handler.handle = (request, response) => handler.handle(request, response, OPERATOR);
  server = await openServer({ store, bursar, port: 0, mounts: { mcp } });
});
afterAll(async () => {
  await handler[Symbol.asyncDispose]();
  await server.close({ within_ms: 1000 });
  await bursar[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe("the scenarios of the protocol that apply", () => {
  test.each(SCENARIOS)("%s", async (scenario) => {
    // The suite asks for localhost by its name.
    const url = `${server.url.replace("127.0.0.1", "localhost")}/mcp`;
    const child = spawn(process.execPath, [SUITE, "server", "--url", url, "--scenario", scenario, "-o", folder]);
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    }
    const [code] = (await once(child, "close")) as [number | null];
    expect({ code, said }).toMatchObject({ code: 0, said: expect.stringMatching(/Passed: \d+\/\d+, 0 failed/) });
    expect(said).not.toMatch(/Passed: 0\//);
  });
});
