import type { Language, SandboxSession } from "@bursar/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endingOf, Surroundings } from "./contained.js";
import { type Ending, LITTLE_FUEL, SHORT } from "./hostile-program.js";

const SET = { python: "x = 41\nopen('/app/kept', 'w').write('kept')", javascript: "globalThis.x = 41;" } as const;
const GET = { python: "print(x + 1)", javascript: "console.log(x + 1)" } as const;

/** Ends that leave nothing to go on with: the session has to be what it was before. */
const BLOWS: readonly (readonly [Language, string, Ending, string])[] = [
  ["python", "out of fuel", "out_of_fuel", "x = 0\nwhile True: pass"],
  ["python", "out of time", "timeout", "x = 0\nimport time\ntime.sleep(10**6)"],
  ["python", "an abort", "unreachable", "x = 0\nimport os\nos.abort()"],
  [
    "python",
    "a full stack",
    "stack_overflow",
    "x = 0\nimport sys\nsys.setrecursionlimit(10**9)\nclass D:\n    def __repr__(self): return repr(self)\nrepr(D())",
  ],
  [
    "python",
    "closed descriptors",
    "trap",
    "x = 0\nimport os\nfor fd in range(64):\n    try: os.close(fd)\n    except OSError: pass",
  ],
  ["python", "a removed file", "out_of_fuel", "import os\nos.remove('/app/kept')\nwhile True: pass"],
  ["javascript", "out of fuel", "out_of_fuel", "x = 0; for (;;) {}"],
  ["javascript", "out of time", "timeout", "x = 0; setTimeout(() => {}, 1e9);"],
  ["javascript", "a thread that sleeps", "timeout", "import * as os from 'os'; globalThis.x = 0; os.sleep(1e9);"],
];

describe("what lives on", () => {
  let surroundings: Surroundings;

  beforeAll(async () => {
    surroundings = await Surroundings.open();
  });

  afterAll(async () => {
    await surroundings[Symbol.asyncDispose]();
  });

  const withSession = async (language: Language, work: (session: SandboxSession) => Promise<void>) => {
    const options = { language, autoPersistGlobals: true, fuelBudget: LITTLE_FUEL };
    const session = await surroundings.sandbox.createSession(options);
    await work(session).finally(() => session.destroy());
  };

  for (const [language, name, ending, code] of BLOWS) {
    it(`${language}: globals and files outlive ${name}`, async () => {
      await withSession(language, async (session) => {
        await session.execute(SET[language]);
        const timeout = ending === "timeout" ? SHORT : 60_000;
        for (let times = 0; times < 2; times++) {
          const result = await session.execute(code, { timeout });
          expect(endingOf(result), result.metadata.trap_message ?? result.stderr).toBe(ending);
          const { stdout, stderr } = await session.execute(GET[language]);
          expect({ stdout, stderr }).toEqual({ stdout: "42\n", stderr: "" });
        }
        if (language === "python") expect(Buffer.from(await session.readFile("kept")).toString()).toBe("kept");
      });
    });
  }

  it("a program that leaves its interpreter leaves its files, and never a broken interpreter", async () => {
    await withSession("python", async (session) => {
      const code =
        "import os\nopen('/app/left', 'a').write('x')\ndef deep(n):\n    if n: deep(n - 1)\n    os._exit(0)\ndeep(100)";
      for (let times = 0; times < 15; times++) expect((await session.execute(code)).exit_code).toBe(0);
      await surroundings.expectUsable(session, "python");
      expect((await session.readFile("left")).length).toBe(15);
    });
  });

  it("a question of an execution that is over is no reason to wait for ever", async () => {
    await withSession("python", async (session) => {
      await session.execute("old = host.call('old')");
      const { stderr, exit_code } = await session.execute("await old");
      expect({ exit_code, told: stderr.includes("an execution that is over") }).toEqual({ exit_code: 1, told: true });
      await surroundings.expectUsable(session, "python");
    });
  });

  it("broken globals are the session's own affair, and nobody else's", async () => {
    await withSession("python", async (session) => {
      await session.execute("import builtins\nbuiltins.print = builtins.compile = builtins.exec = None");
      const broken = await session.execute("print(1)");
      expect(broken.success).toBe(false);
      await surroundings.askNeighbour("python");
    });
  });

  it("paths from outside stay inside as well", async () => {
    for (const language of ["python", "javascript"] as const) {
      await withSession(language, async (session) => {
        for (const path of [
          "/etc/passwd",
          "../../../../etc/passwd",
          `${surroundings.outside}/canary.txt`,
          "/proc/self/environ",
          "",
          "a\0b",
        ]) {
          await expect(session.readFile(path), path).rejects.toThrow();
        }
        for (const path of ["../../../escaped", "/app", "/", "a\0b"]) {
          await expect(session.writeFile(path, "x"), path).rejects.toThrow();
        }
        await session.writeFile(`${surroundings.outside}/inside`, "x");
        surroundings.expectUnharmed(null);
        await surroundings.expectUsable(session, language);
      });
    }
  });

  it("an execution that is ended from outside leaves the session as it was", async () => {
    await withSession("python", async (session) => {
      await session.execute("x = 41");
      const signal = AbortSignal.timeout(SHORT);
      const result = await session.execute(
        "x = 0\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass",
        {
          signal,
          fuelBudget: Number.MAX_SAFE_INTEGER,
        },
      );
      expect({ exit_code: result.exit_code, success: result.success }).toEqual({ exit_code: 130, success: false });
      expect((await session.execute("print(x + 1)")).stdout).toBe("42\n");
    });
  });

  it("a session that is destroyed while it runs does not take others with it", async () => {
    const session = await surroundings.sandbox.createSession({
      language: "python",
      fuelBudget: Number.MAX_SAFE_INTEGER,
    });
    const running = session.execute("while True: pass");
    await surroundings.askNeighbour("python");
    await session.destroy();
    expect((await running).success).toBe(false);
    await expect(session.execute("print(1)")).rejects.toThrow();
    await surroundings.askNeighbour("python");
  });
});
