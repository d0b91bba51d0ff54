import { spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { openSandbox, type SandboxOptions, type SandboxSession } from "@bursar/sandbox";
import { describe, expect, test } from "vitest";
import { CACHE } from "../python/parts.js";
import { testPlaces } from "./places.js";

const { folder, places } = testPlaces("asleep");
const ALL = join(CACHE, "asleep");
const NEVER = 86_400_000;

describe.each(["process", "thread"] as const)("sessions in a %s", (isolation) => {
  const open = (options: SandboxOptions) => openSandbox({ ...places, workers: 1, isolation, ...options });

  test("go to the disk when nobody uses them, and come back as they were", async () => {
    await using sandbox = await open({ sleepAfter: 1 });
    const own = ownFolder();
    const python = await sandbox.createSession({ language: "python", autoPersistGlobals: true, files: { a: "first" } });
    await python.execute("x = [1, 2]\nf = open('a')\nf.read(2)");
    const javascript = await sandbox.createSession({ language: "javascript" });
    const turn = await javascript.begin("console.log('before'); const n = await host.call('n'); console.log(n + 1);");
    expect(turn).toMatchObject({ kind: "pending" });
    const fresh = await sandbox.createSession({ language: "javascript", files: { b: "kept" } });
    await until(() => filesIn(own()).length === 3);
    expect(filesIn(own()).sort()).toEqual([python.id, javascript.id, fresh.id].sort());
    for (const file of filesIn(own())) expect(statSync(join(own(), file)).mode & 0o777).toBe(0o600);
    expect(statSync(own()).mode & 0o777).toBe(0o700);
    expect((await sandbox.sessions()).map(({ id }) => id).sort()).toEqual([python.id, javascript.id, fresh.id].sort());

    expect((await python.execute("print(x, f.read())")).stdout).toBe("[1, 2] rst\n");
    await until(() => filesIn(own()).includes(python.id));
    await javascript.extend(5);
    await until(() => filesIn(own()).includes(javascript.id));
    expect(await javascript.resume({ id: 1, value: 41 })).toMatchObject({ result: { stdout: "before\n42\n" } });
    expect(new TextDecoder().decode(await fresh.readFile("b"))).toBe("kept");
    await until(() => filesIn(own()).length === 3);
    await python.destroy();
    expect(filesIn(own()).sort()).toEqual([javascript.id, fresh.id].sort());
    const path = own();
    await sandbox[Symbol.asyncDispose]();
    expect(existsSync(path)).toBe(false);
  });

  test("go there one by one when all of them take too much memory, those first that were not used for longest", async () => {
    await using sandbox = await open({ sleepAfter: NEVER, mostParkedBytes: 250_000 });
    const own = ownFolder();
    const files = { data: new Uint8Array(100_000) };
    const sessions: SandboxSession[] = [];
    for (let n = 0; n < 5; n++) sessions.push(await sandbox.createSession({ language: "javascript", files }));
    expect(filesIn(own()).sort()).toEqual(
      sessions
        .slice(0, 3)
        .map(({ id }) => id)
        .sort(),
    );
    const code = "import * as std from 'std'; console.log(std.loadFile('/app/data').length)";
    for (const session of sessions) expect((await session.execute(code)).stdout).toBe("100000\n");
    for (const session of sessions) expect((await session.execute(code)).stdout).toBe("100000\n");
    expect(filesIn(own()).length).toBeGreaterThan(0);
  });

  test("that do not fit anywhere are refused, and nothing is lost", async () => {
    await using sandbox = await open({ sleepAfter: NEVER, mostParkedBytes: 150_000, mostAsleepBytes: 100 });
    const files = { data: new Uint8Array(100_000) };
    const first = await sandbox.createSession({ language: "javascript", files });
    await expect(sandbox.createSession({ language: "javascript", files })).rejects.toThrow(
      /^mostParkedBytes is 150000: sessions would take 200000 bytes of memory, and cannot be put on the disk \(\d+ bytes of sessions would be on the disk; 100 are allowed\)/,
    );
    const code = "import * as std from 'std'; console.log(std.loadFile('/app/data').length)";
    expect((await first.execute(code)).stdout).toBe("100000\n");
    await first.destroy();
    await sandbox.createSession({ language: "javascript", files });
  });

  test("lose nothing when they are used while they fall asleep", async () => {
    await using sandbox = await open({ sleepAfter: 1 });
    const session = await sandbox.createSession({ language: "javascript", autoPersistGlobals: true });
    // Large enough that falling asleep takes a while, during which it is used.
    await session.execute("globalThis.n = 0; globalThis.noise = Array.from({ length: 50_000 }, Math.random);");
    for (let turn = 1; turn <= 30; turn++) {
      await new Promise((resolve) => setTimeout(resolve, turn));
      expect((await session.execute("console.log(++n)")).stdout).toBe(`${turn}\n`);
    }
  });

  test("that expire leave nothing on the disk", async () => {
    await using sandbox = await open({ sleepAfter: 1, idleTimeout: 300 });
    const own = ownFolder();
    await sandbox.createSession({ language: "javascript", files: { a: "x" } });
    await until(() => filesIn(own()).length === 1);
    await until(async () => (await sandbox.sessions()).length === 0);
    await until(() => filesIn(own()).length === 0);
  });

  test("whose file was changed or removed are gone, and say so", async () => {
    await using sandbox = await open({ sleepAfter: 1 });
    const own = ownFolder();
    const sessions = await Promise.all([1, 2].map(() => sandbox.createSession({ language: "javascript" })));
    await until(() => filesIn(own()).length === 2);
    const [changed, cut] = sessions as [SandboxSession, SandboxSession];
    const file = join(own(), changed.id);
    const bytes = readFileSync(file);
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] as number) ^ 1;
    writeFileSync(file, bytes);
    writeFileSync(join(own(), cut.id), "");
    for (const session of sessions) {
      await expect(session.execute("1")).rejects.toThrow("cannot be read back from the disk");
    }
    const other = await sandbox.createSession({ language: "javascript" });
    expect((await other.execute("console.log(1)")).stdout).toBe("1\n");
  });

  /** The folder of a sandbox, once there is one: all of a process begin alike, so only what was not there before counts. */
  function ownFolder(): () => string {
    const before = new Set(filesIn(ALL));
    let found: string | undefined;
    return () => {
      found ??= filesIn(ALL).find((name) => name.includes(`-${process.pid}-`) && !before.has(name));
      return found === undefined ? join(ALL, "none") : join(ALL, found);
    };
  }
});

test("what processes have left behind is removed at the next start, and what others need is not", async () => {
  const machine = createHash("sha256").update(hostname()).digest("hex").slice(0, 16);
  const gone = spawnSync(process.execPath, ["-e", "console.log(process.pid)"], { encoding: "utf8" }).stdout.trim();
  const cacheFolder = join(folder, "cache");
  const made = (name: string) => {
    const path = join(cacheFolder, "asleep", name);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "session"), "memory");
    return path;
  };
  const crashed = made(`${machine}-${gone}-${randomUUID()}`);
  const [alive, elsewhere, old] = [
    made(`${machine}-${process.pid}-${randomUUID()}`),
    made(`${"0".repeat(16)}-${gone}-${randomUUID()}`),
    made(`${"1".repeat(16)}-${gone}-${randomUUID()}`),
  ];
  const other = made("something");
  const before = new Date(Date.now() - 2 * 86_400_000);
  for (const path of [old, other]) utimesSync(path, before, before);
  await using _ = await openSandbox({ ...places, cacheFolder, workers: 1 });
  expect([crashed, alive, elsewhere, old, other].map((path) => existsSync(path))).toEqual([
    false,
    true,
    true,
    false,
    true,
  ]);
});

test("a process that is killed leaves nothing behind, and neither does one whose parent is", async () => {
  const script = `
    import { openSandbox } from "@bursar/sandbox";
    const sandbox = await openSandbox({ ...${JSON.stringify(places)}, workers: 1, sleepAfter: 1 });
    await sandbox.createSession({ language: "javascript" });
    const { readdirSync } = await import("node:fs");
    const own = () => readdirSync(${JSON.stringify(ALL)}).find((name) => name.includes("-" + process.pid + "-"));
    while (own() === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    console.log(own());
    process.kill(process.pid, "SIGKILL");
  `;
  const ran = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8", cwd: CWD });
  const name = ran.stdout.trim();
  expect(name, ran.stderr).toMatch(/^[0-9a-f]{16}-/);
  await until(() => !existsSync(join(ALL, name)));
});

const CWD = new URL("../..", import.meta.url).pathname;

function filesIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path).filter((name) => !name.endsWith(".tmp")) : [];
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}
