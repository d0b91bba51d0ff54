import { describe, expect, test } from "vitest";
import { bodyOfAnswer, Received } from "../../src/gateway/received.js";

/** An answer that has begun, and what was asked of whoever sends it. */
function begun() {
  const asked: string[] = [];
  const received = new Received();
  received.begin(
    200,
    {},
    {
      pause: () => void asked.push("pause"),
      resume: () => void asked.push("resume"),
      abort: () => void asked.push("abort"),
    },
  );
  return { received, asked };
}

function bytes(...texts: readonly string[]): readonly Buffer[] {
  return texts.map((text) => Buffer.from(text));
}

describe("an answer that is being read", () => {
  test("hands over what comes at once as one piece, before and after somebody reads", async () => {
    const { received, asked } = begun();
    const taken: string[] = [];
    for (const piece of bytes("a", "b")) received.push(piece);
    const read = received.read((piece) => void taken.push(piece.toString()));
    for (const piece of bytes("c", "d")) received.push(piece);
    expect(taken).toEqual(["ab"]);
    await Promise.resolve();
    for (const piece of bytes("e")) received.push(piece);
    received.end();
    await read;
    expect(taken).toEqual(["ab", "cd", "e"]);
    expect(asked).toEqual([]);
  });

  test("is held back while nobody reads a lot, and goes on when it is read", async () => {
    const { received, asked } = begun();
    received.push(Buffer.alloc(70_000));
    expect(asked).toEqual(["pause"]);
    const body = bodyOfAnswer(received, 100_000);
    expect(asked).toEqual(["pause", "resume"]);
    received.end();
    expect((await body)?.length).toBe(70_000);
  });

  test("is held back while whoever reads is behind, and nothing is lost", async () => {
    const { received, asked } = begun();
    const taken: string[] = [];
    let ready = () => {};
    const read = received.read((piece) => {
      taken.push(piece.toString());
      return new Promise((resolve) => {
        ready = resolve;
      });
    });
    received.push(Buffer.from("a"));
    await Promise.resolve();
    for (const piece of bytes("b", "c")) received.push(piece);
    received.end();
    await Promise.resolve();
    expect(taken).toEqual(["a"]);
    ready();
    await expect.poll(() => taken).toEqual(["a", "bc"]);
    ready();
    await read;
    expect(asked[0]).toBe("pause");
  });

  test("shows what has come before it fails, also to who is behind: it is paid for", async () => {
    const { received } = begun();
    const taken: string[] = [];
    const read = received.read((piece) => {
      taken.push(piece.toString());
      return new Promise(() => {});
    });
    received.push(Buffer.from("a"));
    await Promise.resolve();
    received.push(Buffer.from("b"));
    received.fail(new Error("cut off"));
    await expect(read).rejects.toThrow("cut off");
    expect(taken).toEqual(["a", "b"]);
  });

  test("hangs up when whoever reads fails", async () => {
    const { received, asked } = begun();
    const read = received.read(() => {
      throw new Error("full");
    });
    received.push(Buffer.from("a"));
    await expect(read).rejects.toThrow("full");
    expect(asked).toEqual(["abort"]);
  });

  test.each([
    ["at once", () => Promise.resolve().then(() => Promise.reject(new Error("full")))],
    ["in the act", () => expect.unreachable("full")],
  ])("fails when whoever reads does (%s), even if all has come; and hangs up on nobody", async (_, take) => {
    const { received, asked } = begun();
    received.push(Buffer.from("a"));
    received.end();
    await expect(received.read(take)).rejects.toThrow("full");
    received.drop();
    expect(asked).toEqual([]);
  });
});
