import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSandbox, type SandboxResult, type Turn } from "@bursar/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { CACHE } from "../python/parts.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-sandbox-"));
const PLACES = { cacheFolder: CACHE, packagesFolder: join(folder, "packages"), keyFile: join(folder, "key") };
const sandbox = await openSandbox({ ...PLACES, workers: 2, mostSessions: 300 });
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe("a session", () => {
  test("gives the result that was agreed upon", async () => {
    const session = await sandbox.createSession({ language: "python", files: { "in.txt": "hello" } });
    const code =
      "import sys\nprint(open('in.txt').read())\nprint('oh', file=sys.stderr)\nopen('out.txt', 'w').write('x')";
    const result = await session.execute(code);
    expect(result).toEqual({
      success: true,
      stdout: "hello\n",
      stderr: "oh\n",
      exit_code: 0,
      fuel_consumed: expect.any(Number),
      memory_used_bytes: expect.any(Number),
      duration_ms: expect.any(Number),
      files_created: ["/app/out.txt"],
      files_modified: [],
      session_id: session.id,
      metadata: {
        fuel_analysis: expect.objectContaining({ status: "efficient", consumed: result.fuel_consumed }),
        fuel_basis: expect.objectContaining({ guest: expect.stringMatching(/python/), meter: expect.any(String) }),
        error_guidance: null,
        trap_reason: null,
        trap_message: null,
        stdout_truncated: false,
        stderr_truncated: false,
      },
    });
    await session.destroy();
  });

  test.each([
    ["python", "x = 1", "print('x' in globals())", "True\n", "False\n"],
    ["javascript", "globalThis.x = 1", "console.log('x' in globalThis)", "true\n", "false\n"],
  ] as const)("in %s keeps globals only if told to, and files always", async (language, set, ask, kept, lost) => {
    for (const autoPersistGlobals of [true, false]) {
      const session = await sandbox.createSession({ language, autoPersistGlobals });
      await session.writeFile("deep/a.txt", "a");
      await session.execute(set);
      expect((await session.execute(ask)).stdout).toBe(autoPersistGlobals ? kept : lost);
      expect(await session.listFiles()).toEqual([
        { path: "deep", kind: "directory", size: expect.any(Number) },
        { path: "deep/a.txt", kind: "file", size: 1 },
      ]);
      expect(new TextDecoder().decode(await session.readFile("/app/deep/a.txt"))).toBe("a");
      await session.removeFile("deep");
      expect(await session.listFiles()).toEqual([]);
      await session.destroy();
    }
  });

  test.each([
    ["python", "while True: pass", "print(x)", "7\n"],
    ["javascript", "for (;;);", "console.log(x)", "7\n"],
  ] as const)("in %s is as it was before a program that was stopped", async (language, loop, ask, out) => {
    const session = await sandbox.createSession({ language, autoPersistGlobals: true, fuelBudget: 100_000_000 });
    await session.execute(language === "python" ? "x = 7" : "globalThis.x = 7");
    const stopped = await session.execute(loop);
    expect(stopped).toMatchObject({ success: false, exit_code: 137, fuel_consumed: 100_000_000 });
    expect(stopped.metadata).toMatchObject({
      trap_reason: "out_of_fuel",
      fuel_analysis: { status: "exhausted", consumed: 100_000_000, budget: 100_000_000 },
      error_guidance: { error_type: "OutOfFuel" },
    });
    expect((await session.execute(ask)).stdout).toBe(out);
    await session.destroy();
  });

  test("ends at its deadline, busy or asleep", async () => {
    const session = await sandbox.createSession({ language: "python", timeout: 200, fuelBudget: 1e12 });
    for (const code of ["while True: pass", "import time\ntime.sleep(1000)"]) {
      const { metadata, exit_code } = await session.execute(code);
      expect(metadata).toMatchObject({ trap_reason: "timeout", error_guidance: { error_type: "Timeout" } });
      expect(exit_code).toBe(124);
    }
    expect((await session.execute("print(1)", { timeout: 60_000 })).stdout).toBe("1\n");
    await session.destroy();
  });

  test("ends when its caller has had enough, and can be given more fuel while it runs", async () => {
    const session = await sandbox.createSession({ language: "python", fuelBudget: 1e12 });
    const ending = new AbortController();
    const onProgress = () => ending.abort();
    const ended = await session.execute("while True: pass", { signal: ending.signal, onProgress });
    expect(ended).toMatchObject({ success: false, exit_code: 130 });
    // It burns much more than it may, after a sleep in which it is given more.
    const code = "import time\ntime.sleep(1)\nfor i in range(1_000_000): pass";
    const fuelBudget = 300_000_000;
    const poor = await session.execute(code, { fuelBudget });
    expect(poor).toMatchObject({ success: false, metadata: { trap_reason: "out_of_fuel" } });
    let told = false;
    const more = () => {
      if (!told) void session.extend(1e12);
      told = true;
    };
    const { success, fuel_consumed } = await session.execute(code, { fuelBudget, onProgress: more });
    expect(fuel_consumed).toBeGreaterThan(fuelBudget);
    expect(success).toBe(true);
    await session.destroy();
  });

  test("answers the questions of a program, also several at once, and says what the host does not offer", async () => {
    const handlers = {
      add: (args: unknown) => (args as number[]).reduce((a, b) => a + b),
      fail: () => Promise.reject(Error("no")),
    };
    const python = await sandbox.createSession({ language: "python" });
    const code = `
import asyncio
print(await asyncio.gather(host.call("add", [1, 2]), host.call("add", [3, 4])))
for name in ["fail", "nothing"]:
    try:
        await host.call(name)
    except HostError as error:
        print(error)
`;
    const { stdout } = await python.execute(code, { handlers });
    expect(stdout).toBe("[3, 7]\nno\nthe host offers nothing called nothing\n");
    const javascript = await sandbox.createSession({ language: "javascript" });
    const script = "console.log(await Promise.all([host.call('add', [1, 2]), host.call('add', [3, 4])]))";
    expect((await javascript.execute(script, { handlers })).stdout).toBe("[ 3, 7 ]\n");
  });

  test("is limited in what it writes and says", async () => {
    const limits = { storage_bytes: 1000, stdout_bytes: 10 };
    const session = await sandbox.createSession({ language: "python", limits });
    const { stdout, stderr, metadata } = await session.execute(
      "print('x' * 100)\nwith open('a', 'w') as f: f.write('y' * 2000)",
    );
    expect(stdout).toBe("xxxxxxxxxx");
    expect(metadata.stdout_truncated).toBe(true);
    expect(stderr).toContain("OSError");
    await session.destroy();
  });

  test("of another language and two hundred others live side by side", async () => {
    const all = await Promise.all(
      Array.from({ length: 200 }, (_, n) => sandbox.createSession({ language: "python", files: { n: String(n) } })),
    );
    const some = all.filter((_, n) => n % 20 === 0);
    const results = await Promise.all(some.map((session) => session.execute("print(open('n').read(), end='')")));
    expect(results.map(({ stdout }) => stdout)).toEqual(some.map((_, at) => String(at * 20)));
    for (const session of all) await session.destroy();
  });

  test("cannot be more than allowed, nor what is not known", async () => {
    await using small = await openSandbox({ ...PLACES, workers: 1, mostSessions: 1, isolation: "thread" });
    const first = await small.createSession({ language: "javascript" });
    await expect(small.createSession({ language: "javascript" })).rejects.toThrow("destroy one first");
    await first.destroy();
    await expect(first.execute("1")).rejects.toThrow("it was destroyed, or has expired");
    await expect(sandbox.createSession({ language: "ruby" as never })).rejects.toThrow(
      'allowed: "python" or "javascript"',
    );
    await expect(sandbox.createSession({ language: "python", fuel: 1 } as never)).rejects.toThrow("fuel is not known");
    await expect(sandbox.createSession({ language: "python", memoryLimit: 5 })).rejects.toThrow("memoryLimit is 5");
    const mounts = [{ path: "/mnt/x", folder }];
    await expect(sandbox.createSession({ language: "python", mounts })).rejects.toThrow("openSandbox({ folders })");
  });

  test("that nobody uses expires", async () => {
    await using brief = await openSandbox({ ...PLACES, workers: 1, idleTimeout: 20, isolation: "thread" });
    await brief.createSession({ language: "javascript" });
    while ((await brief.sessions()).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  });
});

test("mounts of real folders are seen, read-only unless said otherwise, and give JavaScript its modules", async () => {
  const [modules, work] = ["modules", "work"].map((name) => join(folder, name)) as [string, string];
  for (const each of [modules, work]) mkdirSync(each, { recursive: true });
  writeFileSync(join(modules, "answer.js"), "export const answer = 42;");
  const folders = [{ path: modules }, { path: work, writable: true }];
  await using open = await openSandbox({ ...PLACES, workers: 1, folders });
  const mounts = [
    { path: "/data/modules", folder: modules },
    { path: "/mnt/work", folder: work, readOnly: false },
  ];
  const javascript = await open.createSession({ language: "javascript", mounts });
  const code =
    "import { answer } from 'answer'; import * as std from 'std'; std.writeFile('/mnt/work/a.txt', String(answer));";
  expect(await javascript.execute(code)).toMatchObject({ success: true, files_created: ["/mnt/work/a.txt"] });
  expect(readFileSync(join(work, "a.txt"), "utf8")).toBe("42");
  const python = await open.createSession({ language: "python", mounts });
  const { stdout, stderr } = await python.execute(
    "print(open('/mnt/work/a.txt').read())\nopen('/data/modules/x', 'w')",
  );
  expect(stdout).toBe("42\n");
  expect(stderr).toContain("OSError");
});

describe("a saved session", () => {
  test("goes on in another process, at its question", async () => {
    for (const language of ["python", "javascript"] as const) {
      const session = await sandbox.createSession({ language, files: { "f.txt": "kept" } });
      const code =
        language === "python"
          ? "a = 1\nb = await host.call('ask')\nprint(a + b, open('f.txt').read())"
          : "import * as std from 'std'; const a = 1; const b = await host.call('ask'); console.log(a + b, std.loadFile('/app/f.txt'))";
      const turn = (await session.begin(code)) as Extract<Turn, { kind: "pending" }>;
      expect(turn).toMatchObject({ kind: "pending", calls: [{ name: "ask" }] });
      const file = join(folder, `${language}.session`);
      writeFileSync(file, await session.save());
      expect(resumeElsewhere(file, turn.open[0] as number)).toMatchObject({ success: true, stdout: "42 kept\n" });
      await session.destroy();
    }
  });

  test("that was changed, cut or signed by somebody else is refused", async () => {
    const session = await sandbox.createSession({ language: "python", autoPersistGlobals: true });
    await session.execute("x = 1");
    const saved = await session.save();
    for (const at of [0, 20, 40, 60, 100, saved.length - 1]) {
      const changed = Uint8Array.from(saved);
      changed[at] = (changed[at] as number) ^ 1;
      await expect(sandbox.restoreSession(changed)).rejects.toThrow(/is no saved session|is not signed/);
    }
    await expect(sandbox.restoreSession(saved.subarray(0, 30))).rejects.toThrow("is no saved session");
    await using other = await openSandbox({
      ...PLACES,
      keyFile: join(folder, "other"),
      workers: 1,
      isolation: "thread",
    });
    await expect(other.restoreSession(saved)).rejects.toThrow("is not signed with this sandbox's key");
    const again = await sandbox.restoreSession(saved);
    expect((await again.execute("print(x)")).stdout).toBe("1\n");
  });
});

/** In a process that knows nothing but the file. */
function resumeElsewhere(file: string, id: number): SandboxResult {
  const script = fileURLToPath(new URL("resume.mjs", import.meta.url));
  const ran = spawnSync(process.execPath, [script, file, String(id), JSON.stringify(PLACES)], { encoding: "utf8" });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout) as SandboxResult;
}
