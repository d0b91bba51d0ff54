import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { ClientRequest as Asked } from "../../../src/gateway/client-request.js";
import { randomOf, SEED, withSeed } from "../../stores/seeds.js";
import { written } from "../raw.js";
import { until } from "../until.js";
import { BOTH, openClients, openTo, wait } from "./stage.js";

const ROUNDS = 40;

/** Chances that are the same for the same seed. */
class Dice {
  private readonly next: () => number;

  constructor(seed: number) {
    this.next = randomOf(seed);
  }

  below(most: number): number {
    return Math.floor(this.next() * most);
  }

  isOnce(in_so_many: number): boolean {
    return this.below(in_so_many) === 0;
  }

  of<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value;
  }
}

/** What an answer has to say: which request it belongs to, what was read as its body, and as many bytes as were asked for. */
function answerTo(url: string, body: Buffer): Buffer {
  const [, place, , size] = url.split("/");
  const sum = createHash("sha1").update(body).digest("hex");
  return Buffer.concat([Buffer.from(`${place}:${body.length}:${sum}:`), Buffer.alloc(Number(size), `${place}é`)]);
}

/** Answers at once or later, whole or in pieces, as its address says. */
async function answer(asked: Asked): Promise<void> {
  const { url, reply } = asked;
  const [, , mode, , seed] = url.split("/");
  const dice = new Dice(Number(seed));
  if (mode === "late") await wait(dice.below(3));
  const early = asked.body(10_000_000);
  const all = answerTo(url, (early instanceof Promise ? await early : early) ?? Buffer.from("too long"));
  if (mode === "whole") {
    reply.answer(200, {}, all);
    return;
  }
  if (dice.isOnce(2)) await wait(dice.below(4));
  reply.begin(200, {});
  if (dice.isOnce(2)) reply.flush();
  let at = 0;
  while (at < all.length) {
    const piece = all.subarray(at, at + dice.of([1, 100, 9000, 20_000]));
    at += piece.length;
    if (at === all.length && dice.isOnce(2)) reply.end(piece);
    else if (!reply.write(piece)) await new Promise((resolve) => reply.flow.once("drain", resolve));
    else if (dice.isOnce(10)) await wait(0);
  }
  reply.end();
}

/** A body in chunks of any size, with and without what may stand around them. */
function inChunks(body: Buffer, dice: Dice): string {
  let text = "";
  let at = 0;
  while (at < body.length) {
    const chunk = body.toString("latin1", at, at + 1 + dice.below(30_000));
    text += `${chunk.length.toString(16)}${dice.of(["", ";x=y"])}\r\n${chunk}\r\n`;
    at += chunk.length;
  }
  return `${text}0\r\n${dice.of(["", "A: b\r\n"])}\r\n`;
}

/** Requests of any kind, and what they have to be answered. */
function pipeline(dice: Dice): { readonly bytes: Buffer; readonly answers: readonly Buffer[] } {
  const count = 1 + dice.below(8);
  const answers: Buffer[] = [];
  let text = "";
  for (let place = 0; place < count; place++) {
    const size = dice.of([0, 5, 8190, 30_000, 100_000]);
    const url = `/${place}/${dice.of(["whole", "late", "pieces"])}/${size}/${dice.below(1_000_000)}`;
    const body = Buffer.alloc(dice.of([0, 3, 1000, 70_000, 100_000]), `${place} of ${count}`);
    const headers = ["Host: a"];
    if (place === count - 1) headers.push("Connection: close");
    if (dice.isOnce(4)) headers.push("Expect: 100-continue");
    if (dice.isOnce(2)) {
      text += written(`POST ${url}`, [...headers, `Content-Length: ${body.length}`], body.toString("latin1"));
    } else text += written(`POST ${url}`, [...headers, "Transfer-Encoding: chunked"], inChunks(body, dice));
    answers.push(answerTo(url, body));
  }
  return { bytes: Buffer.from(text, "latin1"), answers };
}

/** Sends in pieces of any size, reads now and then not at all, and gives all that came until it was closed. */
async function exchange(url: string, bytes: Buffer, dice: Dice, reading: Dice): Promise<Buffer> {
  using connection = await openTo(url);
  const { socket } = connection;
  const pieces: Buffer[] = [];
  socket.setNoDelay(true);
  socket.on("data", (piece: Buffer) => {
    pieces.push(piece);
    if (!reading.isOnce(6)) return;
    socket.pause();
    setTimeout(() => socket.resume(), reading.below(5));
  });
  let at = 0;
  while (at < bytes.length) {
    const piece = bytes.subarray(at, at + dice.of([1, 50, 5000, 100_000, 1_000_000]));
    connection.write(piece);
    at += piece.length;
    if (dice.isOnce(3)) await wait(dice.below(3));
  }
  // One that hangs has to fail here, where its seed is known.
  await until("it is closed", () => socket.closed);
  return Buffer.concat(pieces);
}

/** The data of the chunks that begin here, and where they end. */
function readChunks(all: Buffer, from: number): { readonly body: Buffer; readonly end: number } {
  const pieces: Buffer[] = [];
  let at = from;
  for (;;) {
    const data = all.indexOf("\r\n", at) + 2;
    const size = Number.parseInt(all.toString("latin1", at, data), 16);
    const end = data + size;
    expect(all.toString("latin1", end, end + 2)).toBe("\r\n");
    pieces.push(all.subarray(data, end));
    at = end + 2;
    if (size === 0) return { body: Buffer.concat(pieces), end: at };
  }
}

/** The bodies of all answers, which have to stand one behind the other with nothing between them. */
function bodiesIn(all: Buffer): readonly Buffer[] {
  const bodies: Buffer[] = [];
  let at = 0;
  while (at < all.length) {
    const end = all.indexOf("\r\n\r\n", at) + 4;
    const head = all.toString("latin1", at, end);
    expect(head).toMatch(/^HTTP\/1\.1 (100 Continue|200 OK)\r\n/);
    const length = /content-length: (\d+)/.exec(head)?.[1];
    at = end;
    if (head.startsWith("HTTP/1.1 100")) continue;
    const whole = { body: all.subarray(end, end + Number(length)), end: end + Number(length) };
    const read = length === undefined ? readChunks(all, end) : whole;
    bodies.push(read.body);
    at = read.end;
  }
  return bodies;
}

test.each(BOTH)("every request of any pipeline is answered in its turn, and all of it: %s", async (_name, tls) => {
  await using at = await openClients(answer, { tls });
  for (let round = 0; round < ROUNDS; round++) {
    const seed = SEED + round;
    await withSeed(seed, async () => {
      const dice = new Dice(seed);
      const { bytes, answers } = pipeline(dice);
      const bodies = bodiesIn(await exchange(at.url, bytes, dice, new Dice(seed)));
      expect(bodies.map((body) => body.toString("utf8", 0, 60))).toEqual(
        answers.map((body) => body.toString("utf8", 0, 60)),
      );
      expect(bodies.map((body, place) => body.equals(answers[place] as Buffer))).not.toContain(false);
    });
  }
  expect(at.failed).toEqual([]);
});
