import { type Language, openSandbox, type SandboxSession, type Turn } from "@bursar/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { npmPythonFile } from "../../src/python/python-manifest.js";
import { Engine } from "../../src/sessions/engine.js";
import { Controls, type Errand, type FromWorker, type Parked, type Request } from "../../src/sessions/errand.js";
import { setupOf } from "../../src/sessions/options.js";
import { PartsMaker } from "../../src/sessions/parts.js";
import { CACHE } from "../python/parts.js";
import { testPlaces } from "./places.js";

const { places } = testPlaces("waiting");
// One thread, so that every other session needs the one in which a program waits.
const sandbox = await openSandbox({ ...places, workers: 1 });
afterAll(() => sandbox[Symbol.asyncDispose]());

const LANGUAGES = ["python", "javascript"] as const;
const ASKING: Readonly<Record<Language, string>> = {
  python: "total = 0\nfor i in range(5):\n    total += await host.call('next', i)\nprint(total)",
  javascript: "let total = 0; for (let i = 0; i < 5; i++) total += await host.call('next', i); console.log(total);",
};
const WRITING: Readonly<Record<Language, string>> = {
  python: `for turn in range(5):
    try:
        open("/app/file", "ab", buffering=0).write(b"x" * 150)
    except OSError:
        pass
    await host.call("next", turn)`,
  javascript: `import * as std from "std";
  for (let turn = 0; turn < 5; turn++) {
    try { std.writeFile("/app/file" + turn, "x".repeat(150)); } catch {}
    await host.call("next", turn);
  }`,
};
const MIB = 1024 * 1024;
const HOARDING: Readonly<Record<Language, string>> = {
  python: `for turn in range(5):
    try:
        bytearray(60_000_000)
    except MemoryError:
        pass
    await host.call("next", turn)`,
  javascript: `for (let turn = 0; turn < 5; turn++) {
    try { new Uint8Array(60_000_000); } catch {}
    await host.call("next", turn);
  }`,
};
const PRINTING: Readonly<Record<Language, string>> = { python: "print(1)", javascript: "console.log(1)" };

describe.each(LANGUAGES)("a program in %s that waits for an answer", (language) => {
  test("makes room for others, and goes on where it was, as often as it takes", async () => {
    const sessions = await Promise.all([1, 2, 3].map(() => sandbox.createSession({ language })));
    const turns = await Promise.all(sessions.map((session) => session.begin(ASKING[language])));
    for (let round = 0; round < 5; round++) {
      for (const [at, session] of sessions.entries()) {
        const value = 10 ** at;
        turns[at] = await session.resume({ id: only(turns[at]), value });
      }
    }
    expect(turns.map((turn) => (turn as Extract<Turn, { kind: "ended" }>).result.stdout)).toEqual([
      "5\n",
      "50\n",
      "500\n",
    ]);
    await destroy(sessions);
  });

  test("can be saved while it waits, and goes on here as well as there", async () => {
    const session = await sandbox.createSession({ language });
    const first = await session.begin(ASKING[language]);
    const second = await session.resume({ id: only(first), value: 1 });
    const copy = await sandbox.restoreSession(await session.save());
    for (const [each, value] of [
      [session, 1],
      [copy, 2],
    ] as const) {
      let turn = await each.resume({ id: only(second), value });
      while (turn.kind === "pending") turn = await each.resume({ id: only(turn), value });
      expect(turn.result.stdout).toBe(`${1 + 4 * value}\n`);
    }
    await destroy([session, copy]);
  });

  test("may write as much as it is allowed while it waits, here as well as there", async () => {
    const session = await sandbox.createSession({ language, limits: { storage_bytes: 100 } });
    const first = await session.begin(WRITING[language]);
    expect(first.usage).toMatchObject({ bytes_written: 0, bytes_refused: 150 });
    const copy = await sandbox.restoreSession(await session.save());
    for (const each of [session, copy]) {
      await each.allow(1_000_000_000, 200);
      const second = await each.resume({ id: only(first), value: null });
      expect(second.usage).toMatchObject({ bytes_written: 150, bytes_refused: 0 });
      const third = await each.resume({ id: only(second), value: null });
      expect(third.usage).toMatchObject({ bytes_written: 150, bytes_refused: 150 });
    }
    await destroy([session, copy]);
  });

  test("may have as much memory as it is allowed while it waits, here as well as there", async () => {
    const session = await sandbox.createSession({ language });
    const first = await session.begin(HOARDING[language], { memoryLimit: 40 * MIB });
    expect([first.usage.memory_bytes <= 40 * MIB, first.usage.memory_refused > 60_000_000]).toEqual([true, true]);
    const copy = await sandbox.restoreSession(await session.save());
    for (const each of [session, copy]) {
      await each.allow(1_000_000_000, undefined, 50 * MIB);
      const second = await each.resume({ id: only(first), value: null });
      expect([second.usage.memory_bytes <= 50 * MIB, second.usage.memory_refused > 0]).toEqual([true, true]);
      await each.allow(1_000_000_000, undefined, 100 * MIB);
      const third = await each.resume({ id: only(second), value: null });
      expect(third.usage).toMatchObject({ memory_refused: 0 });
      expect(third.usage.memory_bytes).toBeGreaterThan(60_000_000);
    }
    await destroy([session, copy]);
  });

  test("sees what is done to its files, and does not mind what cannot be done", async () => {
    const session = await sandbox.createSession({ language, autoPersistGlobals: true });
    const code =
      language === "python"
        ? "await host.call('x')\nprint(open('new.txt').read())"
        : "import * as std from 'std'; await host.call('x'); console.log(std.loadFile('/app/new.txt'))";
    const turn = await session.begin(code);
    await expect(session.readFile("new.txt")).rejects.toThrow();
    await session.writeFile("new.txt", "from outside");
    expect(await session.listFiles()).toEqual([{ path: "new.txt", kind: "file", size: 12 }]);
    const ended = await session.resume({ id: only(turn), value: null });
    expect(ended).toMatchObject({ kind: "ended", result: { stdout: "from outside\n" } });
    await session.destroy();
  });

  test("is not ended by an answer to what it never asked, or by one that is no JSON", async () => {
    const session = await sandbox.createSession({ language });
    const turn = await session.begin(ASKING[language]);
    const id = only(turn);
    await expect(session.resume({ id: id + 7, value: 1 })).rejects.toThrow(
      `answer.id is ${id + 7}; the program waits for answers to ${id}`,
    );
    await expect(session.resume({ id, value: "x".repeat(17 * 1024 * 1024) })).rejects.toThrow("answer.value has");
    await expect(session.resume({ id, error: 5 } as never)).rejects.toThrow("answer.error has to be a text");
    await expect(session.resume({ id, error: "no", data: [] } as never)).rejects.toThrow("answer.data has to be");
    expect(await session.resume({ id, value: 1 })).toMatchObject({ kind: "pending" });
    await session.destroy();
  });

  test("can be given up, and the session is as it was before", async () => {
    const session = await sandbox.createSession({ language, autoPersistGlobals: true });
    await session.execute(language === "python" ? "x = 1" : "globalThis.x = 1");
    await session.begin(language === "python" ? "x = 2\nawait host.call('a')" : "x = 2; await host.call('a')");
    await session.drop();
    expect((await session.execute(language === "python" ? "print(x)" : "console.log(x)")).stdout).toBe("1\n");
    await session.destroy();
  });

  test("that is stopped after an answer leaves the session as it was before the whole execution", async () => {
    const session = await sandbox.createSession({ language, autoPersistGlobals: true, fuelBudget: 200_000_000 });
    await session.execute(language === "python" ? "x = 1" : "globalThis.x = 1");
    const code =
      language === "python"
        ? "x = 2\nopen('f', 'w').close()\nawait host.call('a')\nwhile True: pass"
        : "x = 2; (await import('std')).open('f', 'w').close(); await host.call('a'); for (;;);";
    const turn = await session.begin(code);
    expect(await session.resume({ id: only(turn), value: null })).toMatchObject({
      result: { metadata: { trap_reason: "out_of_fuel" } },
    });
    expect(await session.listFiles()).toEqual([]);
    expect((await session.execute(language === "python" ? "print(x)" : "console.log(x)")).stdout).toBe("1\n");
    await session.destroy();
  });

  test("does not notice that another one is stuck in its thread", async () => {
    const session = await sandbox.createSession({ language });
    const turn = await session.begin(ASKING[language]);
    const stuck = await sandbox.createSession({ language, timeout: 50, fuelBudget: 1e15 });
    const loop = language === "python" ? "'a' * 30 in ('a' * 10 ** 9)\nwhile True: pass" : "for (;;);";
    expect((await stuck.execute(loop)).success).toBe(false);
    expect(await session.resume({ id: only(turn), value: 1 })).toMatchObject({ kind: "pending" });
    await destroy([session, stuck]);
  });

  test("with several questions is answered one by one, in any order, with others in between", async () => {
    const session = await sandbox.createSession({ language });
    const other = await sandbox.createSession({ language });
    const code =
      language === "python"
        ? "import asyncio\nprint(await asyncio.gather(*(host.call('n', i) for i in range(4))))"
        : "console.log(await Promise.all([0, 1, 2, 3].map((i) => host.call('n', i))))";
    let turn = await session.begin(code);
    expect(turn).toMatchObject({ kind: "pending", calls: [{ args: 0 }, { args: 1 }, { args: 2 }, { args: 3 }] });
    const ids = (turn as Extract<Turn, { kind: "pending" }>).open;
    for (const at of [2, 0, 3, 1]) {
      expect((await other.execute(PRINTING[language])).stdout).toBe("1\n");
      const id = ids[at] as number;
      expect((turn as Extract<Turn, { kind: "pending" }>).open).toContain(id);
      turn = await session.resume({ id, value: at * at });
    }
    expect(turn).toMatchObject({
      kind: "ended",
      result: { stdout: language === "python" ? "[0, 1, 4, 9]\n" : "[ 0, 1, 4, 9 ]\n" },
    });
    await destroy([session, other]);
  });
});

test("what a thread held that has ended is gone, and that is said", async () => {
  const { Pool } = await import("../../dist/sessions/pool.js" as string);
  const { Session } = await import("../../dist/sessions/session.js" as string);
  const parts = new PartsMaker(CACHE, npmPythonFile(), null);
  const pool = new Pool({ workers: 1, packages: places.packagesFolder, parts });
  const session = new Session("s", setupOf({ language: "javascript" }), pool);
  expect(await session.begin(ASKING.javascript)).toMatchObject({ kind: "pending" });
  await pool[Symbol.asyncDispose]();
  await expect(session.keep()).rejects.toThrow("the program was lost while it waited for an answer");
});

describe("a thread", () => {
  test.each(LANGUAGES)(
    "holds a program in %s between its questions, and puts it together only for others",
    async (language) => {
      const told: FromWorker[] = [];
      const engine = new Engine(places.packagesFolder, (message) => told.push(message));
      const maker = new PartsMaker(CACHE, npmPythonFile(), null);
      const setup = setupOf({ language });
      const key = maker.keyOf(setup);
      engine.learn(key, await maker.make(setup));
      const run = (session: string, version: number, parked: Parked | null, request: Request) => {
        const controls = new Controls().shared;
        const errand: Errand = { session, setup, parked, version, request, fuel: 1e9, timeout_ms: 60_000, controls };
        return engine.run(errand, key, () => {});
      };
      const begin = (code: string): Request => ({ op: "begin", code, argv: [], stdin: null, interactive: false });
      const fresh: Parked = { version: 0, guest: null };

      expect((await run("a", 0, fresh, begin(ASKING[language]))).left).toEqual({ kind: "held", version: 1 });
      const answer = { id: 1, value: 1 };
      expect((await run("a", 1, null, { op: "resume", answer })).left).toEqual({ kind: "held", version: 2 });
      expect(told).toEqual([]);
      const kept = await run("a", 2, null, { op: "park" });
      expect(kept.left).toMatchObject({ kind: "parked", parked: { version: 2, guest: { language } } });
      await run("a", 2, null, { op: "resume", answer: { id: 2, value: 1 } });
      await run("b", 0, fresh, begin(PRINTING[language]));
      expect(told).toMatchObject([{ kind: "parked", session: "a", parked: { version: 3, guest: { language } } }]);
      await expect(run("a", 3, null, { op: "resume", answer: { id: 3, value: 1 } })).rejects.toThrow("does not hold");
      const { parked } = told[0] as Extract<FromWorker, { kind: "parked" }>;
      expect((await run("a", 3, parked, { op: "resume", answer: { id: 3, value: 1 } })).left.kind).toBe("held");
      engine.forget("a");
      await run("b", 0, fresh, begin(PRINTING[language]));
      expect(told.length).toBe(1);
    },
  );
});

function only(turn: Turn | undefined): number {
  if (turn?.kind !== "pending") throw new Error(`the program does not wait: ${JSON.stringify(turn)}`);
  expect(turn.open.length).toBe(1);
  return turn.open[0] as number;
}

async function destroy(sessions: readonly SandboxSession[]): Promise<void> {
  for (const session of sessions) await session.destroy();
}
