import { describe, expect, test } from "vitest";
import { StreamFrame, type Taken } from "../../../src/models/meter/stream-frame.js";

/** A source of numbers that counts how often it was asked, and knows whether somebody has hung up on it. */
function numbersTo(last: number) {
  const seen = { asked: 0, left: false };
  const stream = new ReadableStream<number>(
    {
      pull(controller) {
        seen.asked++;
        if (seen.asked > last) controller.close();
        else controller.enqueue(seen.asked);
      },
      cancel() {
        seen.left = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, stream };
}

/** Keeps back what is even, and ends or is capped where it is said. */
const odd =
  (at = Number.POSITIVE_INFINITY, state: Taken<number>["state"] = "ended") =>
  (value: number | null): Taken<number> => ({
    pass: value === null || value % 2 === 0 ? [] : [value],
    state: value === at ? state : "running",
  });

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function readAll(stream: ReadableStream<number>): Promise<readonly number[]> {
  const values: number[] = [];
  for await (const value of stream) values.push(value);
  return values;
}

describe("the frame of a stream", () => {
  test("passes on no faster than it is read, and what ends it when it is told to", async () => {
    const { seen, stream } = numbersTo(5);
    const frame = new StreamFrame(stream, odd());
    await settled();
    expect(seen.asked).toBe(0);
    const opened = frame.openStream();
    const reader = opened.getReader();
    expect(await reader.read()).toEqual({ done: false, value: 1 });
    await settled();
    expect(seen.asked).toBe(1);
    reader.releaseLock();
    void frame.read.then(() => frame.close([10, 11]));
    expect(await readAll(opened)).toEqual([3, 5, 10, 11]);
    expect(seen.left).toBe(false);
  });

  test("reads on after the last word, so that the connection can serve again, but not for ever", async () => {
    for (const [last, left] of [
      [10, false],
      [1000, true],
    ] as const) {
      const { seen, stream } = numbersTo(last);
      const frame = new StreamFrame(stream, odd(3));
      void frame.read.then(() => frame.close([]));
      expect(await readAll(frame.openStream())).toEqual([1, 3]);
      await settled();
      expect(seen.left).toBe(left);
      expect(seen.asked).toBeLessThan(30);
    }
  });

  test("hangs up on who gives more than was granted, and when it fails", async () => {
    const capped = numbersTo(1000);
    const frame = new StreamFrame(capped.stream, odd(3, "capped"));
    void frame.read.then(() => frame.close([4]));
    expect(await readAll(frame.openStream())).toEqual([1, 3, 4]);
    expect(capped.seen).toEqual({ asked: 3, left: true });

    const failing = numbersTo(1000);
    const broken = new StreamFrame(failing.stream, odd(3));
    void broken.read.then(() => {
      broken.fail(new Error("not settled"));
      broken.close([4]);
    });
    await expect(readAll(broken.openStream())).rejects.toThrow("not settled");
    await settled();
    expect(failing.seen).toEqual({ asked: 3, left: true });
  });

  test("hears when whoever reads it leaves, and when what it reads breaks", async () => {
    const { seen, stream } = numbersTo(1000);
    const frame = new StreamFrame(stream, odd());
    await frame.openStream().cancel();
    await frame.read;
    expect(seen.left).toBe(true);
    frame.close([1]);

    const torn = new ReadableStream<number>({ pull: (controller) => controller.error(new Error("torn")) });
    const broken = new StreamFrame(torn, odd());
    void broken.openStream().getReader().read();
    await expect(broken.read).rejects.toThrow("torn");
  });
});
