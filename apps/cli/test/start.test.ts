import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startListening } from "./listening-process.js";
import { bursar } from "./run.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bursar-start-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The files that processes have loaded which wrote their coverage here. */
function loadedFiles(): readonly string[] {
  const reports = readdirSync(folder).filter((name) => name.startsWith("coverage-"));
  return reports.flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as { result: { url: string }[] };
    return result.flatMap(({ url }) => (url.startsWith("file:") ? [basename(url)] : []));
  });
}

test("--help and --version load almost nothing", () => {
  for (const flag of ["--help", "--version"]) {
    expect(bursar([flag], { NODE_V8_COVERAGE: folder }).status).toBe(0);
    expect(loadedFiles()).toContain("main.js");
    expect(new Set(loadedFiles()).size).toBeLessThan(10);
  }
});

const BUNDLE = new URL("../dist/bundle/", import.meta.url);

test("bursar serve without a provider loads no HTTP client for one", async () => {
  const server = await startListening(["serve"], { NODE_V8_COVERAGE: folder, BURSAR_STORE: "memory:" });
  expect(await server.end("SIGTERM")).toBe(0);
  const holdsClient = (name: string) =>
    existsSync(new URL(name, BUNDLE)) && readFileSync(new URL(name, BUNDLE), "utf8").includes("undici");
  expect(loadedFiles()).toContain("serve.js");
  expect(loadedFiles().filter(holdsClient)).toEqual([]);
  expect(readdirSync(BUNDLE).filter((name) => name.endsWith(".js") && holdsClient(name))).not.toEqual([]);
});

test("bursar serve loads the Model Context Protocol with the first request for it", async () => {
  expect(existsSync(new URL("http-handler.js", BUNDLE))).toBe(true);
  const env = { NODE_V8_COVERAGE: folder, BURSAR_STORE: "memory:" };
  for (const asks of [false, true]) {
    const server = await startListening(["serve"], env);
    if (asks) {
      const response = await fetch(`${server.url}/mcp`, { method: "POST", body: "{}" });
      expect(response.status).toBeGreaterThanOrEqual(400);
    }
    expect(await server.end("SIGTERM")).toBe(0);
    expect(loadedFiles()).toContain("serve.js");
    expect(loadedFiles().includes("http-handler.js")).toBe(asks);
  }
});
