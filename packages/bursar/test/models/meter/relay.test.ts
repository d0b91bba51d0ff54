import { expect, test } from "vitest";
import { ReaderLeft, Relay } from "../../../src/models/meter/relay.js";

/** Sends numbers until nobody reads any more, and says how far it came. */
async function count(relay: Relay<number>, to: number): Promise<{ sent: number; left: boolean }> {
  for (let each = 1; each <= to; each++) {
    try {
      await relay.send(each);
    } catch (error) {
      if (!(error instanceof ReaderLeft)) throw error;
      return { sent: each, left: true };
    }
  }
  return { sent: to, left: false };
}

test("values pass one by one, and those that were kept come after the end", async () => {
  const relay = new Relay<number>();
  relay.keep(4);
  const sending = count(relay, 3).then((sent) => {
    relay.end(null);
    return sent;
  });
  const read: number[] = [];
  for await (const each of relay.read()) read.push(each);
  expect(read).toEqual([1, 2, 3, 4]);
  expect(await sending).toEqual({ sent: 3, left: false });
});

test("who sends hears that the reader has left", async () => {
  const relay = new Relay<number>();
  const sending = count(relay, 100);
  for await (const each of relay.read()) if (each === 3) break;
  expect(await sending).toEqual({ sent: 3, left: true });
  await expect(relay.send(5)).rejects.toBeInstanceOf(ReaderLeft);
});

test("an error reaches the reader after what was sent before it, and stops the sender", async () => {
  const relay = new Relay<number>();
  const sending = count(relay, 100);
  const read: number[] = [];
  const reading = (async () => {
    for await (const each of relay.read()) {
      read.push(each);
      if (each === 2) relay.end(new Error("cut"));
    }
  })();
  await expect(reading).rejects.toThrow("cut");
  expect(read).toEqual([1, 2]);
  expect(await sending).toEqual({ sent: 2, left: true });
});

test("an error before anything was sent is told at once", async () => {
  const relay = new Relay<number>();
  relay.end(new Error("refused"));
  await expect(relay.read().next()).rejects.toThrow("refused");
});
