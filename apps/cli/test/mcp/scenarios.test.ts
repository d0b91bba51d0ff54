import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineAgent, MemoryStore, openBursar } from "bursar";
import { openServer } from "bursar/server";
import { beforeAll, describe, expect, test } from "vitest";
import { openMcpHandler } from "../../src/mcp/http-handler.js";
import { OPERATOR } from "./stage.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/** The protocol's own suite from npm. */
const SUITE = join(ROOT, "node_modules", ".bin", "conformance");

/** Those that need nothing but a server; the others want fixtures of their own, as docs/MCP.md says. */
const APPLYING = [
  "server-initialize",
  "ping",
  "logging-set-level",
  "tools-list",
  "resources-list",
  "prompts-list",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
];

/** How each scenario went, by its name. */
let outcomes: ReadonlyMap<string, boolean>;
let said = "";

/** Runs the whole suite once against our handler where it is mounted: on the server, which looks at Host and Origin. */
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-mcp-suite-"));
  const store = new MemoryStore();
  const idle = defineAgent("idle", async () => null);
  await using bursar = openBursar({ store, programs: [idle] });
  // There has to be something to be listed.
  await bursar.run(idle, null);
  const sandbox = async () => {
    throw new Error("nothing here executes code");
  };
  await using handler = openMcpHandler({ bursar, sandbox, packagesFolder: folder, version: "0.0.0" });
  const mcp: typeof handler.handle = (request, response) => handler.handle(request, response, OPERATOR);
  const server = await openServer({ store, bursar, port: 0, mounts: { mcp } });
  // The suite asks for localhost by its name.
  const url = `${server.url.replace("127.0.0.1", "localhost")}/mcp`;
  const child = spawn(process.execPath, [SUITE, "server", "--url", url, "--suite", "all", "-o", folder]);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  }
  await once(child, "close");
  const lines = said.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed$/gm);
  outcomes = new Map([...lines].map(([, sign, name = "", passed]) => [name, sign === "✓" && passed !== "0"]));
  await server.close({ within_ms: 1000 });
  rmSync(folder, { recursive: true, force: true });
}, 240_000);

describe("the scenarios of the protocol", () => {
  test.each(APPLYING)("%s", (scenario) => {
    expect(outcomes.get(scenario), said.slice(-3000)).toBe(true);
  });

  test("the page names each of the others, with what it wants", () => {
    const page = readFileSync(join(ROOT, "docs", "MCP.md"), "utf8");
    const others = [...outcomes.keys()].filter((name) => !APPLYING.includes(name));
    expect(others.length).toBeGreaterThan(10);
    expect(others.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
