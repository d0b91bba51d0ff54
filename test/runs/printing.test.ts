import { defineTool, guestProgram, MemoryStore, openBursar } from "bursar";
import { expect, test } from "vitest";
import { ANN, openTestSandbox } from "./sandbox.js";

const sandbox = await openTestSandbox();
const SOURCES = {
  python: 'print("one")\nawait host.tool("hear")\nprint("two")\nawait host.tool("hear")\nprint("three")\n',
  javascript:
    'console.log("one");\nawait host.tool("hear");\nconsole.log("two");\nawait host.tool("hear");\nconsole.log("three");\n',
} as const;

test.each(["python", "javascript"] as const)(
  "what %s prints is told before its next question is answered",
  async (language) => {
    const heard: string[] = [];
    const before: (string | undefined)[] = [];
    const hear = defineTool({
      name: "hear",
      description: "",
      input: { type: "object" },
      run: () => void before.push(heard.at(-1)),
    });
    const source = { language, code: SOURCES[language], packages: [], memory_bytes: 64 * 1024 * 1024 };
    const program = guestProgram(language, source, async () => sandbox);
    const printed = (run: string, { stdout }: { readonly stdout: string }) => {
      heard.push(`${run} ${stdout}`);
      throw new Error("who listens may fail");
    };
    await using bursar = openBursar({ store: new MemoryStore(), tools: [hear], programs: [program], printed });
    const asks = { limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;
    const paused = await bursar.run(language, null, { id: "r", ...asks });
    expect(paused).toMatchObject({ status: "paused", output: { stdout: "one\ntwo\n" } });
    expect(before).toEqual(["r one\n"]);
    const done = await bursar.approve("r/checkpoint", { by: ANN });
    expect(done).toMatchObject({ status: "completed", output: { stdout: "one\ntwo\nthree\n" } });
    expect(before).toEqual(["r one\n", "r one\ntwo\n"]);
    expect(heard.at(-1)).toBe("r one\ntwo\nthree\n");
  },
);

test("what is printed beyond what a run keeps is said", async () => {
  const code = "import sys\nfor n in range(200): print('x' * 9999)\nsys.stderr.write('the end')";
  const source = { language: "python", code, packages: [], memory_bytes: 64 * 1024 * 1024 } as const;
  const program = guestProgram("much", source, async () => sandbox);
  await using bursar = openBursar({ store: new MemoryStore(), programs: [program] });
  const { status, output } = await bursar.run("much", null);
  expect([status, output.stdout.length]).toEqual(["completed", 1024 * 1024]);
  expect(output.stderr).toBe("the end\nstdout was cut after 1048576 bytes\n");
});
