import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inOne, MAIN } from "../run.js";
import { openStage as openFiles, type Stage } from "../runs-stage.js";
import { call, stillness, toolNames } from "./stage.js";

const XDG_CACHE_HOME = fileURLToPath(
  new URL("../../../../node_modules/.cache/bursar-sandbox-tests/xdg", import.meta.url),
);
const INSPECTOR = fileURLToPath(new URL("../../../../node_modules/.bin/mcp-inspector-cli", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bursar-mcp-"));

let files: Stage;
beforeAll(() => {
  files = openFiles();
});
afterAll(() => {
  files[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const env = () => ({ ...files.env, XDG_CACHE_HOME, BURSAR_GUEST: "npm", PATH: process.env.PATH ?? "", HOME: folder });

/** A real client, which starts the built command as clients do. */
async function start(args: readonly string[], approves: (() => Record<string, string | number>) | null = null) {
  const capabilities = approves === null ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: "test", version: "0" }, { capabilities });
  if (approves !== null) {
    client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: approves() }));
  }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "mcp", "--module", files.module, ...args],
    env: env(),
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (piece: Buffer) => {
    stderr += piece.toString();
  });
  await client.connect(transport);
  return { client, stderr: () => stderr };
}

describe("bursar mcp over standard input and output", { timeout: 300_000 }, () => {
  test.each([
    ["garbage", "garbage\n", /trouble with the client: .*JSON/],
    ["a message without an end", "x".repeat(11_000_000), /trouble with the client: .*exceeded maximum size/],
  ])("of %s it says on standard error what the trouble is, and ends with its client", (_, input, told) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "mcp"], {
      env: env(),
      input,
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(told);
  });

  test("an agent executes code, starts a run that pauses; an operator's connection approves it", async () => {
    const agent = await start(["--unattended", "--budget", "fuel=20000000000,wall_clock=60s"]);
    expect(await toolNames(agent.client)).not.toContain("budget_approve");
    const { said } = await call(agent.client, "execute_code", { code: "print(6 * 7)" });
    expect(said).toMatchObject({ stdout: "42\n", budget: { limits: { fuel: 20_000_000_000, wall_clock_ms: 60_000 } } });
    const more = await call(agent.client, "budget_request_extension", { dimension: "fuel", reason: "a large table" });
    const wanted = (more.said as never as { request: { approval_id: string; status: string } }).request;
    expect(wanted.status).toBe("pending");
    const input = { words: ["a", "b", "c"] };
    const stopped = await call(agent.client, "run_start", {
      program: "writer",
      input,
      limits: { cost_usd: 0.06 },
      policies: { cost_usd: "hard_stop" },
    });
    expect(stopped.said).toMatchObject({ status: "failed", failure: { dimension: "cost_usd" } });
    const letter = await call(agent.client, "run_start", { program: "writer", input: { letter: true } });
    expect(letter.said).toMatchObject({ status: "paused", requests: [{ kind: "capability_execution" }] });
    const [request] = letter.said.requests as never as { approval_id: string; command: string }[];
    expect(request?.command).toContain(`bursar approve ${request?.approval_id}`);
    const operator = await start(["--role", "operator", "--as", "ann"]);
    expect(await toolNames(operator.client)).toEqual(expect.arrayContaining(["budget_approve", "ccos_budget_deny"]));
    const extended = await call(operator.client, "budget_approve", { checkpoint_id: wanted.approval_id });
    expect(extended.said).toMatchObject({ request: { status: "approved" }, run: null });
    const grown = { budgets: [{ owner: "connection", limits: { fuel: 30_000_000_000 } }] };
    expect((await call(agent.client, "budget_status")).said).toMatchObject(grown);
    const approved = await call(operator.client, "budget_approve", { checkpoint_id: request?.approval_id });
    expect(approved.said).toMatchObject({
      request: { status: "approved" },
      run: { status: "completed", result: "sent" },
    });
    const again = await call(operator.client, "budget_deny", { checkpoint_id: request?.approval_id });
    expect([again.isError, again.text]).toEqual([true, expect.stringContaining("approved by ann already")]);
    expect((await call(agent.client, "run_status", { run_id: letter.said.run_id })).said).toMatchObject({
      status: "completed",
    });
    await Promise.all([agent.client.close(), operator.client.close()]);
    expect([agent.stderr(), operator.stderr()]).toEqual(["", ""]);
  });

  test("the person at the client is asked there, and his name goes into the chain", async () => {
    const { client } = await start(["--as", "ann"], () => ({ decision: "approve", reason: "yes" }));
    const { said } = await call(client, "run_start", { program: "writer", input: { letter: true } });
    expect(said).toMatchObject({ status: "completed", result: "sent" });
    const id = said.run_id as never as string;
    const { contents } = await client.readResource({ uri: `bursar://runs/${id}/chain` });
    const chain = JSON.stringify(contents);
    expect(chain).toContain("agent of ann");
    expect(chain).toMatch(/ApprovalDecided.*\\"by\\":\\"ann\\"/);
    await client.close();
    expect(files.run("verify", id).status).toBe(0);
  });

  test("code that a client sends runs with what the configuration gives it", async () => {
    const { client } = await start(["--unattended"]);
    const code = "import host\nbudget = await host.budget()\nprint('left', budget['remaining']['steps'])";
    const sent = { code, language: "python", name: "look", limits: { steps: 7 } };
    const { said, text } = await stillness(client, await call(client, "run_start", { ...sent, wait_ms: 0 }));
    expect([text, said.status]).toEqual([expect.anything(), "completed"]);
    expect((said as never as { output: { stdout: string } }).output.stdout).toMatch(/^left \d/);
    const loop = { code: "while True: pass", language: "python", limits: { fuel: 20_000_000 }, wait_ms: 0 };
    const burnt = await stillness(client, await call(client, "run_start", loop));
    expect(burnt.said).toMatchObject({
      status: "failed",
      execution: { fuel_analysis: { status: "exhausted" }, error_guidance: { error_type: "OutOfFuel" } },
    });
    expect(burnt.text).toMatch(/20M of 20M fuel, 100 %, exhausted\n.*\n.*\nSolution 1: Simplify code/);
    await client.close();
  });
});

describe("the MCP Inspector", { timeout: 300_000 }, () => {
  const inspect = (...args: readonly string[]) => {
    const config = join(folder, "inspector.json");
    const server = { command: process.execPath, args: [MAIN, "mcp", "--unattended"], env: env() };
    writeFileSync(config, JSON.stringify({ mcpServers: { bursar: server } }));
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [INSPECTOR, "--cli", "--config", config, "--server", "bursar", ...args],
      { encoding: "utf8", timeout: 200_000, env: { ...process.env, ...env() } },
    );
    if (status !== 0) throw new Error(`${stdout}${stderr}`);
    return JSON.parse(stdout) as Record<string, never>;
  };

  test("lists tools, and calls one", () => {
    const { tools } = inspect("--method", "tools/list") as never as {
      tools: { name: string; outputSchema?: object }[];
    };
    expect(tools.map(({ name }) => name)).toContain("execute_code");
    expect(tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true);
    const called = inspect("--method", "tools/call", "--tool-name", "execute_code", "--tool-arg", "code=print(1 + 1)");
    expect(called).toMatchObject({ structuredContent: { success: true, stdout: "2\n" } });
  });

  test("lists prompts and resources", () => {
    expect(inspect("--method", "prompts/list")).toMatchObject({ prompts: expect.anything() });
    expect(inspect("--method", "resources/templates/list")).toMatchObject({ resourceTemplates: { length: 6 } });
  });
});

describe("the command line", () => {
  const lines = [
    ["mcp", "--help"],
    ["mcp", "--setup", "claude-code", "--budget", "fuel=5000000000", "--module=tools.mjs", "--store", "sqlite:x.db"],
    ["mcp", "--setup=vscode", "--role", "operator"],
    ["mcp", "--setup", "claude-desktop"],
    ["mcp", "--setup", "cursor"],
    ["mcp", "--setup", "cursr"],
    ["mcp", "--role", "admin"],
    ["mcp", "--budget", "fule=5B"],
    ["mcp", "--setup", "claude-code", "--json"],
  ] as const;
  const run = inOne(lines);

  test("prints how to set it up", () => {
    expect(run(lines[0]).stdout).toContain("Usage: bursar mcp");
    const own = `${process.execPath} ${MAIN} mcp`;
    const module = `--module ${resolve("tools.mjs")} --store sqlite:${resolve("x.db")}`;
    expect(run(lines[1]).stdout).toBe(`claude mcp add bursar -- ${own} --budget fuel=5000000000 ${module}\n`);
    const code = /^code --add-mcp '(.*)'\n$/.exec(run(lines[2]).stdout)?.[1] ?? "";
    const args = [MAIN, "mcp", "--role", "operator"];
    expect(JSON.parse(code)).toEqual({ name: "bursar", command: process.execPath, args });
    expect(run(lines[3]).stdout).toContain('"mcpServers"');
    const config = /config=(\S+)/.exec(run(lines[4]).stdout)?.[1] ?? "";
    expect(JSON.parse(Buffer.from(decodeURIComponent(config), "base64").toString())).toMatchObject({
      args: [MAIN, "mcp"],
    });
  });

  test("prints it for programs, too", () => {
    const setup = `claude mcp add bursar -- ${process.execPath} ${MAIN} mcp\n`;
    expect(JSON.parse(run(lines[8]).stdout)).toEqual({ client: "claude-code", setup });
  });

  test("says what was not understood", () => {
    expect(run(lines[5])).toMatchObject({ status: 2, stderr: expect.stringContaining("did you mean cursor?") });
    expect(run(lines[6])).toMatchObject({ status: 2, stderr: expect.stringContaining("agent, operator") });
    expect(run(lines[7])).toMatchObject({ status: 2, stderr: expect.stringContaining("did you mean fuel") });
  });
});
