import { expect, test } from "vitest";
import { unlessAborted } from "../src/app/unless-aborted.js";

test("what comes of it", async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(unlessAborted(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
});

test.each(["before", "after"])(
  "a signal that fires %s it begins; what fails later, nobody has to hear",
  async (when) => {
    const controller = new AbortController();
    let fail: (error: Error) => void = () => {};
    const work = new Promise<number>((_, reject) => {
      fail = reject;
    });
    if (when === "before") controller.abort(new Error("interrupted"));
    const waiting = unlessAborted(work, controller.signal);
    controller.abort(new Error("interrupted"));
    await expect(waiting).rejects.toThrow("interrupted");
    // Unheard, it would end the process, and vitest with an error.
    fail(new Error("too late"));
    await new Promise((resolve) => setImmediate(resolve));
  },
);
