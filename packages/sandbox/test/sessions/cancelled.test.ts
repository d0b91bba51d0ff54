import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testPlaces } from "./places.js";

const { places } = testPlaces("cancelled");

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ ...places, workers: 1 });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const ASKING = {
  python: "await host.call('wait', {})\nprint('went on')",
  javascript: "await host.call('wait', {}); console.log('went on')",
} as const;

describe.each(["python", "javascript"] as const)("an execution in %s that is cancelled", (language) => {
  test("while it waits for an answer ends, and the session can be used again", async () => {
    const session = await sandbox.createSession({ language });
    const ending = new AbortController();
    const wait = () => {
      ending.abort();
      return new Promise<never>(() => {});
    };
    const { success, stdout } = await session.execute(ASKING[language], { handlers: { wait }, signal: ending.signal });
    expect([success, stdout]).toEqual([false, ""]);
    const next = await session.execute(language === "python" ? "print(1)" : "console.log(1)");
    expect(next).toMatchObject({ success: true, stdout: "1\n" });
    await session.destroy();
  });
});

test("many executions share one signal: it cancels all of them, and Node warns of no leak", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on("warning", note);
  try {
    const ending = new AbortController();
    const sessions = await Promise.all(
      Array.from({ length: 12 }, () => sandbox.createSession({ language: "javascript" })),
    );
    let waiting = 0;
    const wait = () => {
      if (++waiting === sessions.length) ending.abort();
      return new Promise<never>(() => {});
    };
    const { signal } = ending;
    const execute = (session: (typeof sessions)[number]) =>
      session.execute(ASKING.javascript, { handlers: { wait }, signal });
    const ended = await Promise.all(sessions.map(execute));
    expect(ended.map(({ success, stdout }) => [success, stdout])).toEqual(sessions.map(() => [false, ""]));
    await Promise.all(sessions.map((session) => session.destroy()));
    await new Promise((resolve) => setTimeout(resolve, 20));
  } finally {
    process.off("warning", note);
  }
  expect(warnings).toEqual([]);
});
