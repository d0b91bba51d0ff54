import { expect, test } from "vitest";
import { deferred } from "../../src/runtime/deferred.js";
import { untilAborted } from "../../src/runtime/until-aborted.js";

test("what comes of it, and nothing is left at the signal", async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(untilAborted(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
  expect(await untilAborted(Promise.resolve(2), undefined)).toBe(2);
});

test.each(["before", "after"])("a signal that fires %s it begins", async (when) => {
  const controller = new AbortController();
  const work = deferred<number>();
  if (when === "before") controller.abort(new Error("hung up"));
  const waiting = untilAborted(work.promise, controller.signal);
  controller.abort(new Error("hung up"));
  await expect(waiting).rejects.toThrow("hung up");
  // Nobody hears of it, and the process goes on.
  work.reject(new Error("too late"));
  await new Promise((resolve) => setImmediate(resolve));
});
