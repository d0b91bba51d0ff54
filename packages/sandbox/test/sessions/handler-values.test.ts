import { HostRefusal, openSandbox, type Sandbox } from "@bursar/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CACHE } from "../python/parts.js";

const circular: Record<string, unknown> = {};
circular.self = circular;

/** What handlers give back that JSON cannot say, and what a program is told then. */
const UNTELLABLE: readonly (readonly [name: string, value: () => unknown, told: RegExp])[] = [
  ["circular", () => circular, /circular structure/],
  ["big", () => ({ amount: 10n }), /BigInt/],
  ["function", () => () => 1, /it is a function/],
  ["symbol", () => Symbol("s"), /it is a symbol/],
  [
    "getter",
    () => ({
      get path() {
        throw new Error("no path here");
      },
    }),
    /no path here/,
  ],
  ["huge", () => "x".repeat(17 * 1024 * 1024), /16777216 are allowed/],
];

/** What `JSON.stringify` makes of the rest is what a program gets. */
const TELLABLE: readonly (readonly [name: string, value: () => unknown, told: unknown])[] = [
  ["nothing", () => undefined, null],
  ["members", () => ({ a: undefined, b: () => 1, c: Number.NaN, d: 1 }), { c: null, d: 1 }],
  ["date", () => new Date(0), "1970-01-01T00:00:00.000Z"],
  ["map", () => new Map([["a", 1]]), {}],
  [
    "class",
    () =>
      new (class Point {
        x = 1;
        y = new (class Inner {
          z = 2;
        })();
      })(),
    { x: 1, y: { z: 2 } },
  ],
];

const PROGRAMS = {
  python: `
import json
for name in NAMES:
    try:
        print(name, json.dumps(await host.call(name, {}), separators=(",", ":")))
    except host.HostError as error:
        print(name, "failed:", error)
print("goes on")
`,
  javascript: `
for (const name of NAMES) {
  try {
    console.log(name, JSON.stringify(await host.call(name, {})));
  } catch (error) {
    console.log(name, "failed:", error.message);
  }
}
console.log("goes on");
`,
} as const;

describe.each(["process", "thread"] as const)("in a %s of its own", (isolation) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openSandbox({ cacheFolder: CACHE, workers: 1, isolation });
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  test.each(["python", "javascript"] as const)("what is no JSON is an error at the await in %s", async (language) => {
    const session = await sandbox.createSession({ language });
    const handlers = Object.fromEntries([...UNTELLABLE, ...TELLABLE].map(([name, value]) => [name, value]));
    const code = PROGRAMS[language].replace("NAMES", JSON.stringify(Object.keys(handlers)));
    const { stdout, success } = await session.execute(code, { handlers });
    expect(success).toBe(true);
    const told = new Map(stdout.split("\n").map((line) => [line.split(" ")[0], line.slice(line.indexOf(" ") + 1)]));
    for (const [name, , pattern] of UNTELLABLE) expect(told.get(name), name).toMatch(pattern);
    for (const [name, , value] of TELLABLE) expect(JSON.parse(told.get(name) ?? ""), name).toEqual(value);
    expect(stdout).toContain("goes on");
    // The session is fit for the next execution.
    expect((await session.execute(language === "python" ? "print(1)" : "console.log(1)")).stdout).toBe("1\n");
  });

  test("an answer that is no JSON is refused, and the program waits on", async () => {
    const session = await sandbox.createSession({ language: "javascript" });
    const turn = await session.begin("console.log(await host.call('a', {}))");
    if (turn.kind !== "pending") throw new Error("it asks for nothing");
    const [id = 0] = turn.open;
    await expect(session.resume({ id, value: () => 1 })).rejects.toMatchObject({ field: "answer.value" });
    await expect(session.resume({ id, value: circular })).rejects.toMatchObject({ field: "answer.value" });
    expect(await session.resume({ id, value: "told" })).toMatchObject({ result: { stdout: "told\n" } });
  });

  test("errors and refusals that cannot be described are told all the same", async () => {
    const session = await sandbox.createSession({ language: "javascript" });
    const handlers = {
      bare: () => {
        throw Object.create(null);
      },
      refused: () => {
        throw new HostRefusal("not today", { circular });
      },
    };
    const code = PROGRAMS.javascript.replace("NAMES", '["bare", "refused"]');
    const { stdout } = await session.execute(code, { handlers });
    expect(stdout).toBe(
      "bare failed: the handler failed, and its error cannot be described\nrefused failed: not today\ngoes on\n",
    );
  });

  test("what a program is told of an error is for the host to say", async () => {
    const session = await sandbox.createSession({ language: "javascript" });
    const read = () => {
      throw new Error("ENOENT: /srv/secrets/key");
    };
    const code = PROGRAMS.javascript.replace("NAMES", '["read"]');
    expect((await session.execute(code, { handlers: { read } })).stdout).toContain("/srv/secrets/key");
    const hidden = await session.execute(code, { handlers: { read }, describeError: (_, name) => `${name} failed` });
    expect(hidden.stdout).toBe("read failed: read failed\ngoes on\n");
  });
});
