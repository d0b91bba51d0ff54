import { type Language, type OutputPiece, openSandbox } from "@bursar/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { testPlaces } from "./places.js";

const { places } = testPlaces("output");
const [inProcess, inThread] = await Promise.all([
  openSandbox({ ...places, workers: 1 }),
  openSandbox({ ...places, workers: 1, isolation: "thread" }),
]);
const SANDBOXES = { process: inProcess, thread: inThread };
afterAll(() => Promise.all(Object.values(SANDBOXES).map((each) => each[Symbol.asyncDispose]())));

const KINDS = (["process", "thread"] as const).flatMap((isolation) =>
  (["python", "javascript"] as const).map((language) => [language, isolation] as const),
);

describe.each(KINDS)("output of %s in a %s", (language, isolation) => {
  const open = (limits = {}) => SANDBOXES[isolation].createSession({ language, limits });

  test("comes while the program runs, before it has ended", async () => {
    const session = await open();
    const ending = new AbortController();
    // The program would go on for a day; whoever sees its words ends it.
    const result = await session.execute(program(language, "early"), {
      timeout: 86_400_000,
      fuelBudget: Number.MAX_SAFE_INTEGER,
      signal: ending.signal,
      onOutput: ({ stream, text }) => {
        expect([stream, text]).toEqual(["stdout", "here I am\n"]);
        ending.abort();
      },
    });
    expect(result).toMatchObject({ exit_code: 130, stdout: "here I am\n" });
    await session.destroy();
  });

  test("is whole where it begins with a byte order mark", async () => {
    const session = await open();
    const pieces: OutputPiece[] = [];
    const result = await session.execute(program(language, "marked"), { onOutput: (piece) => pieces.push(piece) });
    expect(result.stdout).toBe("\ufeffa;b\n");
    expect(joined(pieces, "stdout")).toBe("\ufeffa;b\n");
    await session.destroy();
  });

  test("keeps the order of both streams, and is the same text as the result's", async () => {
    const session = await open();
    const pieces: OutputPiece[] = [];
    const handlers = { ask: () => "answer" };
    const result = await session.execute(program(language, "mixed"), {
      handlers,
      onOutput: (piece) => pieces.push(piece),
    });
    expect(result).toMatchObject({ success: true });
    expect(joined(pieces, "stdout")).toBe(result.stdout);
    expect(joined(pieces, "stderr")).toBe(result.stderr);
    expect(result.stdout).toMatch(/^0 out€😀\n1 out€😀\n/);
    const lines = pieces.map(({ text }) => text).join("");
    const expected = Array.from({ length: 50 }, (_, n) => `${n} out€😀\n${n} err€😀\n`);
    expect(lines).toBe([...expected, "answer\n"].join(""));
    await session.destroy();
  });

  test("is never more than the result holds, whatever comes in between", async () => {
    const session = await open({ stdout_bytes: 10_000, stderr_bytes: 5 });
    const pieces: OutputPiece[] = [];
    const result = await session.execute(program(language, "much"), {
      handlers: { ask: () => null },
      onOutput: (piece) => pieces.push(piece),
    });
    expect(result.metadata).toMatchObject({ stdout_truncated: true });
    expect(joined(pieces, "stdout")).toBe(result.stdout);
    expect(result.stdout.length).toBe(10_000);
    await session.destroy();
  });

  test("that is cut in the middle of a character ends as in the result", async () => {
    const session = await open({ stdout_bytes: 5 });
    const pieces: OutputPiece[] = [];
    const code = language === "python" ? "print('€€€')" : "console.log('€€€')";
    const { stdout } = await session.execute(code, { onOutput: (piece) => pieces.push(piece) });
    expect(joined(pieces, "stdout")).toBe(stdout);
    await session.destroy();
  });

  test("whose listener fails ends the execution with that failure, and nothing else", async () => {
    const session = await open();
    const onOutput = () => {
      throw new Error("nobody listens");
    };
    await expect(session.execute(program(language, "early"), { onOutput })).rejects.toThrow("nobody listens");
    expect((await session.execute(language === "python" ? "print(1)" : "console.log(1)")).stdout).toBe("1\n");
    await session.destroy();
  });

  test("of a program that asks is told by each turn", async () => {
    const session = await open();
    const seen: string[] = [];
    const listen = ({ text }: OutputPiece) => void seen.push(text);
    const code =
      language === "python"
        ? "print('one')\nprint(await host.call('x'))"
        : "console.log('one'); console.log(await host.call('x'))";
    expect(await session.begin(code, {}, listen)).toMatchObject({ kind: "pending", open: [1] });
    expect(seen.join("")).toBe("one\n");
    await session.resume({ id: 1, value: "two" }, listen);
    expect(seen.join("")).toBe("one\ntwo\n");
    await session.destroy();
  });
});

function joined(pieces: readonly OutputPiece[], wanted: OutputPiece["stream"]): string {
  return pieces.map(({ stream, text }) => (stream === wanted ? text : "")).join("");
}

type Name = "early" | "marked" | "mixed" | "much";

function program(language: Language, name: Name): string {
  return language === "python" ? PYTHON[name] : JAVASCRIPT[name];
}

const PYTHON: Readonly<Record<Name, string>> = {
  early: "print('here I am')\nwhile True: pass",
  mixed: `
import sys
for i in range(50):
    print(i, 'out€😀')
    print(i, 'err€😀', file=sys.stderr)
print(await host.call('ask'))`,
  marked: "print('\\ufeffa;b')",
  much: `
import sys
for i in range(10):
    print('x' * 3000)
    print('y' * 100, file=sys.stderr)
    await host.call('ask')`,
};

const JAVASCRIPT: Readonly<Record<Name, string>> = {
  early: "console.log('here I am'); for (;;);",
  mixed: `
for (let i = 0; i < 50; i++) {
  console.log(i, 'out€😀');
  console.error(i, 'err€😀');
}
console.log(await host.call('ask'));`,
  marked: "console.log('\\ufeffa;b')",
  much: `
for (let i = 0; i < 10; i++) {
  console.log('x'.repeat(3000));
  console.error('y'.repeat(100));
  await host.call('ask');
}`,
};
