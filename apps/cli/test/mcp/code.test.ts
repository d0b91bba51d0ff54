import type { Sandbox } from "@bursar/sandbox";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../listening-process.js";
import { AGENT, call, type McpStage, OPERATOR, openStage, openTestSandbox } from "./stage.js";

let sandbox: Sandbox;
let stage: McpStage;

beforeAll(async () => {
  sandbox = await openTestSandbox();
  await Promise.all([sandbox.warm("python"), sandbox.warm("javascript")]);
  stage = await openStage({ sandbox: async () => sandbox });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

describe("execute_code", () => {
  test("gives the sandbox's result with fuel analysis, and what is left of the budget", async () => {
    const client = await stage.connect(AGENT);
    const { said, text, isError } = await call(client, "execute_code", { code: "x = 6 * 7\nprint(x)" });
    expect(isError).toBe(false);
    expect(said).toMatchObject({ success: true, stdout: "42\n", exit_code: 0, metadata: { trap_reason: null } });
    const { metadata, budget, fuel_consumed } = said as never as {
      metadata: { fuel_analysis: { consumed: number; budget: number; status: string } };
      budget: { budget_id: string; used: Record<string, number>; limits: Record<string, number> };
      fuel_consumed: number;
    };
    expect(metadata.fuel_analysis).toMatchObject({
      consumed: fuel_consumed,
      budget: 10_000_000_000,
      status: "efficient",
    });
    expect(budget.limits.fuel).toBe(100_000_000_000);
    expect(budget.used.fuel).toBeGreaterThanOrEqual(fuel_consumed);
    expect(text).toContain("42");
    const kept = await stage.bursar.store.budget(budget.budget_id);
    expect(kept?.used.fuel).toBe(budget.used.fuel);
  });

  test("goes on in the usual session, whose variables are still there", async () => {
    const client = await stage.connect(AGENT);
    const first = await call(client, "execute_code", { code: "kept = 'here'", language: "python" });
    const second = await call(client, "execute_code", { code: "print(kept)" });
    expect(second.said).toMatchObject({ stdout: "here\n", session_id: first.said.session_id });
    const other = await call(client, "execute_code", { code: "console.log(1 + 1)", language: "javascript" });
    expect(other.said).toMatchObject({ stdout: "2\n", success: true });
  });

  test("a failed program is a result with guidance", async () => {
    const client = await stage.connect(AGENT);
    const { isError, said, text } = await call(client, "execute_code", { code: "open('/etc/passwd')" });
    expect(isError).toBe(false);
    expect(said).toMatchObject({ success: false, metadata: { error_guidance: { error_type: "PathRestriction" } } });
    expect(text).toContain("/etc/passwd");
  });

  test("an endless loop ends with its fuel, and says what to do", async () => {
    const client = await stage.connect(AGENT);
    const { said } = await call(client, "execute_code", { code: "while True: pass", fuel_budget: 200_000_000 });
    expect(said).toMatchObject({
      success: false,
      metadata: { trap_reason: "out_of_fuel", error_guidance: { error_type: "OutOfFuel" } },
    });
  });

  test("code has nobody to ask, and is told so", async () => {
    const client = await stage.connect(AGENT);
    const code = "import host\ntry:\n  await host.llm('hello')\nexcept Exception as e:\n  print('no:', e)";
    const { said } = await call(client, "execute_code", { code });
    expect(said.stdout).toMatch(/^no: .*run_start/);
  });

  test("tells its progress to a client that asks for it", async () => {
    const client = await stage.connect(AGENT);
    const seen: number[] = [];
    const code = "print('begun', flush=True)\nfor i in range(3_000_000): pass";
    await client.callTool({ name: "execute_code", arguments: { code } }, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  });

  test("cancelled, the guest really stops, and what it burnt is charged", async () => {
    const client = await stage.connect(AGENT);
    const { said: session } = await call(client, "create_session", { language: "python", fuel_budget: 90_000_000_000 });
    const cancelling = new AbortController();
    const code = "print('begun', flush=True)\nwhile True: pass";
    let begun = () => {};
    const began = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const work = client.callTool(
      { name: "execute_code", arguments: { code, session_id: session.session_id, timeout_ms: 300_000 } },
      undefined,
      { signal: cancelling.signal, onprogress: ({ message }) => message === "begun" && begun() },
    );
    await began;
    cancelling.abort("enough");
    await expect(work).rejects.toThrow("enough");
    // It is free for the next program only when the loop is over.
    const next = await call(client, "execute_code", { code: "print('free')", session_id: session.session_id });
    expect(next.said).toMatchObject({ stdout: "free\n" });
    const { said } = await call(client, "budget_status");
    const [budget] = said.budgets as never as { used: { fuel: number }; held: { fuel?: number } }[];
    expect(budget?.held.fuel ?? 0).toBe(0);
    expect(budget?.used.fuel).toBeLessThan(90_000_000_000);
    await call(client, "destroy_session", { session_id: session.session_id });
  });
});

describe("hostile input", () => {
  test("is refused with what is allowed, and never with a stack", async () => {
    const client = await stage.connect(AGENT);
    const { said: session } = await call(client, "create_session", { language: "python" });
    const { session_id } = session;
    const files = (args: object) => call(client, "session_files", { session_id, ...args });
    const answers = [
      await call(client, "execute_code", { code: "#".repeat(2_000_000) }),
      await call(client, "execute_code", { code: "1", session_id: "../../x" }),
      await call(client, "execute_code", { code: "1", fuel_budget: 1e12 }),
      await call(client, "execute_code", { code: "1", fuel_budget: -1 }),
      await call(client, "execute_code", { code: "1", fuel: 5 }),
      await call(client, "execute_code", { code: "1", session_id, language: "javascript" }),
      await call(client, "execute_code", {}),
      await call(client, "create_session", { language: "perl" }),
      await call(client, "destroy_session", { session_id: "nobody's" }),
      await files({ action: "read", path: "/etc/passwd" }),
      await files({ action: "read", path: "../etc/passwd" }),
      await files({ action: "write", path: "/app/../data/x", content: "x" }),
      await files({ action: "write", path: "a\0b", content: "x" }),
      await files({ action: "write", path: "/app", content: "x" }),
      await files({ action: "write", path: "x", content: "***", encoding: "base64" }),
      await files({ action: "delete", path: "." }),
      await files({ action: "read", path: "missing.txt" }),
      await files({ action: "read" }),
      await call(client, "run_start", { program: "nobody" }),
      await call(client, "run_start", {}),
      await call(client, "run_status", { run_id: "../../../etc" }),
      await call(client, "budget_status", { budget_id: "nobody's" }),
      await call(client, "install_package", { session_id, package: "requests; rm -rf /" }),
      await call(client, "install_package", { session_id, package: "openpyxl" }),
    ];
    for (const { isError, text } of answers) {
      expect(isError).toBe(true);
      expect(text).not.toMatch(/\n\s+at |node:internal|\/work\//);
      expect(text.length).toBeGreaterThan(10);
    }
    expect(stage.errors).toEqual([]);
    await call(client, "destroy_session", { session_id });
  });

  test("sessions are bounded, and nobody sees another's", async () => {
    const other = await stage.connect({ name: "other", role: "agent" });
    const made: string[] = [];
    for (let count = 0; count < 8; count++) {
      const { said, isError } = await call(other, "create_session", { language: "javascript" });
      expect(isError).toBe(false);
      made.push(said.session_id as never as string);
    }
    const ninth = await call(other, "create_session", { language: "javascript" });
    expect([ninth.isError, ninth.text]).toEqual([true, expect.stringContaining("destroy_session")]);
    const stranger = await stage.connect(OPERATOR);
    const { said } = await call(stranger, "list_sessions");
    const seen = (said.sessions as never as { session_id: string }[]).map(({ session_id }) => session_id);
    expect(seen.filter((id) => made.includes(id))).toEqual([]);
    expect((await call(stranger, "execute_code", { code: "1", session_id: made[0] })).isError).toBe(true);
    for (const session_id of made) await call(other, "destroy_session", { session_id });
    expect((await call(other, "list_sessions")).said).toEqual({ sessions: [] });
  });
});

test("files of a session: written, listed, read by a program, read back, deleted; and paid for", async () => {
  const client = await stage.connect(AGENT);
  const { said: session } = await call(client, "create_session", { language: "python" });
  const { session_id } = session;
  const files = (args: object) => call(client, "session_files", { session_id, ...args });
  const before = await used(client);
  expect((await files({ action: "write", path: "data/in.txt", content: "tea" })).said).toMatchObject({
    path: "/app/data/in.txt",
    size: 3,
  });
  expect((await used(client)) - before).toBe(3);
  const { said } = await files({ action: "list" });
  expect(said.entries).toContainEqual({ path: "data/in.txt", kind: "file", size: 3 });
  const code = "open('out.bin', 'wb').write(bytes([0, 255])); print(open('data/in.txt').read())";
  expect((await call(client, "execute_code", { code, session_id })).said).toMatchObject({ stdout: "tea\n" });
  expect((await files({ action: "read", path: "out.bin", encoding: "base64" })).said).toMatchObject({
    content: "AP8=",
    size: 2,
  });
  expect((await files({ action: "delete", path: "data" })).isError).toBe(false);
  expect((await files({ action: "read", path: "data/in.txt" })).isError).toBe(true);
  await call(client, "destroy_session", { session_id });
});

async function used(client: Parameters<typeof call>[0]): Promise<number> {
  const { said } = await call(client, "budget_status");
  const [budget] = said.budgets as never as { used: { storage_write_bytes?: number } }[];
  return budget?.used.storage_write_bytes ?? 0;
}

describe("the budget of a connection", () => {
  test("bounds what code writes, and nothing is written beyond it", async () => {
    await using small = await openStage({
      sandbox: async () => sandbox,
      limits: { storage_write_bytes: 1000, fuel: 10_000_000_000, wall_clock_ms: 60_000, steps: 50 },
    });
    const client = await small.connect(AGENT);
    const code = `
try:
    for at in range(50):
        with open(f'f{at}', 'wb') as file:
            file.write(b'x' * 100)
except OSError as error:
    print(at, error.errno)
`;
    const { said } = await call(client, "execute_code", { code });
    expect(said).toMatchObject({ success: true, stdout: "10 51\n" });
    expect(await used(client)).toBe(1000);
  });

  test("is hard: what is used up stays so when a client connects again, until somebody else extends it", async () => {
    await using small = await openStage({
      sandbox: async () => sandbox,
      limits: { fuel: 300_000_000, wall_clock_ms: 60_000, steps: 50 },
    });
    const first = await small.connect(AGENT);
    const { tools } = await first.listTools();
    expect(tools.find(({ name }) => name === "execute_code")?.description).toContain("fuel 300000000");
    const loop = { code: "while True: pass" };
    expect((await call(first, "execute_code", loop)).said).toMatchObject({ metadata: { trap_reason: "out_of_fuel" } });
    const again = await small.connect(AGENT);
    const refused = await call(again, "execute_code", { code: "print(1)" });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('budget_request_extension(dimension="fuel")');
    const asked = await call(again, "budget_request_extension", { dimension: "fuel", reason: "one more look" });
    const { request } = asked.said as never as {
      request: { approval_id: string; approval_url: string; status: string };
    };
    expect(request).toMatchObject({ status: "pending", approval_url: expect.stringContaining(request.approval_id) });
    const repeated = await call(again, "budget_request_extension", { dimension: "fuel", reason: "please" });
    expect((repeated.said as never as { request: object }).request).toMatchObject({ approval_id: request.approval_id });
    const operator = await small.connect(OPERATOR);
    const decided = await call(operator, "budget_approve", {
      checkpoint_id: request.approval_id,
      extensions: { fuel: 2_000_000_000 },
    });
    expect(decided.said).toMatchObject({ request: { status: "approved" }, run: null });
    expect((await call(again, "execute_code", { code: "print(1)" })).said).toMatchObject({ stdout: "1\n" });
  });

  test("bounds how many runs a client starts, and says so", async () => {
    await using small = await openStage({ sandbox: async () => sandbox, limits: { subcalls: 2, steps: 10 } });
    const client = await small.connect(AGENT);
    const start = () => call(client, "run_start", { program: "writer" });
    expect((await start()).said).toMatchObject({ status: "completed" });
    expect((await start()).said).toMatchObject({ status: "completed" });
    const third = await start();
    expect([third.isError, third.text]).toEqual([true, expect.stringContaining('dimension="subcalls"')]);
  });

  test("warns when a threshold is crossed", async () => {
    await using small = await openStage({ sandbox: async () => sandbox, limits: { steps: 2 } });
    let heard = (_: unknown) => {};
    const warned = new Promise<unknown>((resolve) => {
      heard = resolve;
    });
    const client = await small.connect(AGENT, {
      prepare: (each) =>
        each.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => heard(params.data)),
    });
    await call(client, "execute_code", { code: "1", language: "javascript" });
    expect(await warned).toMatch(/^steps of mcp:robot:\S+ is used to 50 %$/);
  });

  test("calls that are under way at the same time are bounded", async () => {
    await using busy = await openStage({ sandbox: async () => sandbox, limits: { fuel: 100_000_000_000 } });
    const client = await busy.connect(AGENT);
    const { said } = await call(client, "create_session", { language: "javascript" });
    const { session_id } = said;
    const loop = { code: "for (;;) {}", session_id, fuel_budget: 90_000_000_000, timeout_ms: 300_000 };
    const stopping = new AbortController();
    const { signal } = stopping;
    const looping = Array.from({ length: 17 }, () =>
      client
        .callTool({ name: "execute_code", arguments: loop }, undefined, { signal: AbortSignal.any([signal]) })
        .catch(() => null),
    );
    const held = async () => {
      const [budget] = (await call(client, "budget_status")).said.budgets as never as { held: { fuel?: number } }[];
      return budget?.held.fuel ?? 0;
    };
    const one = { code: "1", language: "javascript" };
    await until("one more is too many", async () =>
      (await call(client, "execute_code", one)).text.includes("calls of yours are under way"),
    );
    // Those that wait hold nothing that others could use.
    expect(await held()).toBe(90_000_000_000);
    stopping.abort();
    await Promise.all(looping);
    await until("nothing is held any more", async () => (await held()) === 0);
  });

  test("its clock stands still while nothing is executed", async () => {
    const client = await stage.connect(AGENT);
    await call(client, "execute_code", { code: "1" });
    const { said } = await call(client, "budget_status");
    const [budget] = said.budgets as never as { budget_id: string }[];
    const kept = await stage.bursar.store.budget(budget?.budget_id ?? "");
    expect(kept?.watch.since).toBeNull();
  });
});
