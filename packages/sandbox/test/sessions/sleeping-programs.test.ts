import { type Language, openSandbox } from "@bursar/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { testPlaces } from "./places.js";

const { places } = testPlaces("sleeping");
const sandbox = await openSandbox({ ...places, workers: 1 });
afterAll(() => sandbox[Symbol.asyncDispose]());

const HOUR = 3_600_000;
const PROGRAMS: readonly (readonly [Language, what: string, code: string])[] = [
  ["python", "time.sleep", `import time\nopen("a.txt", "w").close()\ntime.sleep(${HOUR / 1000})`],
  [
    "javascript",
    "os.sleep",
    `import * as std from "std"; import * as os from "os"; std.writeFile("/app/a.txt", ""); os.sleep(${HOUR});`,
  ],
  [
    "javascript",
    "a timer",
    `import * as std from "std"; std.writeFile("/app/a.txt", ""); await new Promise((go) => setTimeout(go, ${HOUR}));`,
  ],
];

describe.each(PROGRAMS)("a program in %s that sleeps in %s", (language, _, code) => {
  test("ends at its deadline, and its files stay", async () => {
    const session = await sandbox.createSession({ language, timeout: 2000 });
    await session.execute("1");
    const { metadata, exit_code } = await session.execute(code);
    expect(metadata).toMatchObject({ trap_reason: "timeout", error_guidance: { error_type: "Timeout" } });
    expect(exit_code).toBe(124);
    expect(await session.listFiles()).toEqual([{ path: "a.txt", kind: "file", size: 0 }]);
    await session.destroy();
  });

  test("ends when its caller has had enough, and its files stay", async () => {
    const session = await sandbox.createSession({ language });
    const ending = new AbortController();
    const onProgress = () => ending.abort();
    const { exit_code } = await session.execute(code, { signal: ending.signal, onProgress });
    expect(exit_code).toBe(130);
    expect(await session.listFiles()).toEqual([{ path: "a.txt", kind: "file", size: 0 }]);
    await session.destroy();
  });
});

test.each([
  ["python", "import time\nt = time.monotonic()\ntime.sleep(0.05)\nprint(time.monotonic() - t >= 0.05)", "True\n"],
  [
    "javascript",
    "import * as os from 'os'; const t = Date.now(); os.sleep(50); await os.sleepAsync(50); console.log(Date.now() - t >= 99)",
    "true\n",
  ],
] as const)("a program in %s sleeps as long as it wants to, if it may", async (language, code, stdout) => {
  const session = await sandbox.createSession({ language });
  expect(await session.execute(code)).toMatchObject({ success: true, stdout });
  await session.destroy();
});
