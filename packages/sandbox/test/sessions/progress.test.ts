import type { Language } from "@bursar/sandbox";
import { describe, expect, test } from "vitest";
import { bothIsolations } from "./both-isolations.js";

const SANDBOXES = await bothIsolations("progress");

/** Goes on until somebody ends it. */
const LOOPS: Readonly<Record<Language, string>> = { python: "while True: pass", javascript: "for (;;);" };
const ASKING: Readonly<Record<Language, string>> = {
  python: "print(await host.call('wait'))",
  javascript: "console.log(await host.call('wait'))",
};
const PRINTING: Readonly<Record<Language, string>> = { python: "print(1)", javascript: "console.log(1)" };
const FUEL = 1e14;

const KINDS = (["process", "thread"] as const).flatMap((isolation) =>
  (["python", "javascript"] as const).map((language) => [language, isolation] as const),
);

describe.each(KINDS)("progress of %s in a %s", (language, isolation) => {
  const open = () => SANDBOXES[isolation].createSession({ language, fuelBudget: FUEL, timeout: 10_000 });

  test("is told against the budget in force: the session's, and what it was extended by", async () => {
    const session = await open();
    const ending = new AbortController();
    const budgets: number[] = [];
    const onProgress = (consumed: number, budget: number) => {
      expect(consumed).toBeLessThan(budget);
      if (budgets.at(-1) !== budget) budgets.push(budget);
      if (budgets.length === 1) void session.extend(1000);
      if (budgets.length > 1) ending.abort();
    };
    const { exit_code } = await session.execute(LOOPS[language], { onProgress, signal: ending.signal });
    expect(exit_code).toBe(130);
    // It may be asked to extend more than once before the first extension shows.
    expect(budgets[0]).toBe(FUEL);
    expect(((budgets[1] as number) - FUEL) % 1000).toBe(0);
    await session.destroy();
  });

  test("is told against the execution's own budget, if it has one", async () => {
    const session = await open();
    const ending = new AbortController();
    const budgets = new Set<number>();
    const onProgress = (_: number, budget: number) => {
      budgets.add(budget);
      ending.abort();
    };
    await session.execute(LOOPS[language], { onProgress, signal: ending.signal, fuelBudget: FUEL - 1 });
    expect([...budgets]).toEqual([FUEL - 1]);
    await session.destroy();
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("nobody looks");
      },
    ],
    ["rejects", () => Promise.reject(new Error("nobody looks"))],
  ] as const)("whose listener %s ends the execution with that failure, and nothing else", async (_, onProgress) => {
    const session = await open();
    await expect(session.execute(LOOPS[language], { onProgress })).rejects.toThrow("nobody looks");
    expect((await session.execute(PRINTING[language])).stdout).toBe("1\n");
    await session.destroy();
  });

  test("whose listener fails while the program waits leaves a session that can be used", async () => {
    const session = await open();
    let failed = () => {};
    const failing = new Promise<void>((resolve) => {
      failed = resolve;
    });
    const onProgress = () => {
      failed();
      throw new Error("nobody looks");
    };
    const asked = session.execute(ASKING[language], { onProgress, handlers: { wait: () => failing } });
    await expect(asked).rejects.toThrow("nobody looks");
    expect((await session.execute(PRINTING[language])).stdout).toBe("1\n");
    await session.destroy();
  });

  test("of a session that is destroyed meanwhile harms nobody", async () => {
    const session = await open();
    const started = new Promise<void>((resolve) => {
      const handlers = { wait: () => new Promise((answer) => setTimeout(answer, 400)) };
      const onProgress = () => resolve();
      // What becomes of it is not the point; an unhandled rejection would fail this file.
      void session.execute(ASKING[language], { onProgress, handlers }).catch(() => {});
    });
    await started;
    await session.destroy();
    await new Promise((resolve) => setTimeout(resolve, 400));
  });
});
