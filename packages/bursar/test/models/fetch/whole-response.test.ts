import { describe, expect, test } from "vitest";
import { WholeResponse } from "../../../src/models/fetch/whole-response.js";

const TEXT = '\ufeff{"answer":"grüße"}';
const BYTES = new TextEncoder().encode(TEXT);
const TYPE = { "content-type": "application/json" };

const plain = () => new Response(BYTES, { status: 201, statusText: "Made", headers: TYPE });

function whole(): Response {
  const headers = new Headers(TYPE);
  return new WholeResponse({ status: 201, statusText: "Made", headers, url: "https://a.example/" }, BYTES);
}

describe("A response whose body is here already", () => {
  test("says what a plain one says", () => {
    const { status, statusText, ok, type, redirected, bodyUsed } = whole();
    const other = plain();
    expect({ status, statusText, ok, type, redirected, bodyUsed }).toEqual({
      status: other.status,
      statusText: other.statusText,
      ok: other.ok,
      type: other.type,
      redirected: other.redirected,
      bodyUsed: false,
    });
    expect(whole()).toBeInstanceOf(Response);
    expect(whole().url).toBe("https://a.example/");
    expect([...whole().headers]).toEqual([...other.headers]);
  });

  test.each(["text", "json", "arrayBuffer"] as const)("is read by %s() as a plain one is, once", async (how) => {
    const own = whole();
    expect(await own[how]()).toEqual(await plain()[how]());
    expect(own.bodyUsed).toBe(true);
    for (const again of ["text", "json", "arrayBuffer", "blob"] as const) {
      await expect(own[again]()).rejects.toThrow(TypeError);
    }
    expect(() => own.clone()).toThrow(TypeError);
  });

  test("is read as bytes where the platform's are not", async () => {
    expect(await (whole() as Response & { bytes(): Promise<Uint8Array> }).bytes()).toEqual(BYTES);
  });

  test("gives a copy of its bytes, which nobody shares", async () => {
    const own = whole();
    const clone = own.clone();
    new Uint8Array(await own.arrayBuffer()).fill(0);
    expect(await clone.text()).toBe(await plain().text());
  });

  test("is read as a blob, with its type", async () => {
    const blob = await whole().blob();
    expect([blob.size, blob.type]).toEqual([BYTES.length, "application/json"]);
  });

  test("is read as a form", async () => {
    const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
    const head = { status: 200, statusText: "OK", headers, url: "" };
    const form = await new WholeResponse(head, new TextEncoder().encode("a=1&b=2")).formData();
    expect([...form]).toEqual([
      ["a", "1"],
      ["b", "2"],
    ]);
  });

  test("is a stream for who asks for one", async () => {
    const own = whole();
    const pieces: Uint8Array[] = [];
    for await (const piece of own.body as ReadableStream<Uint8Array>) pieces.push(piece);
    expect(Buffer.concat(pieces)).toEqual(Buffer.from(BYTES));
    expect(own.bodyUsed).toBe(true);
    await expect(own.text()).rejects.toThrow(TypeError);
  });

  test("can still be read as a text by who has only looked at its stream", async () => {
    const own = whole();
    expect(own.body?.locked).toBe(false);
    expect(await own.text()).toBe(await plain().text());
  });

  test("has no second reading as a stream", async () => {
    const own = whole();
    await own.text();
    expect(own.body?.locked || own.bodyUsed).toBe(true);
    expect(() => new Response(own.body)).toThrow(TypeError);
  });

  test("has clones, each with a reading and headers of its own", async () => {
    const own = whole();
    const clone = own.clone();
    clone.headers.set("x-more", "1");
    expect(own.headers.has("x-more")).toBe(false);
    expect(clone.url).toBe(own.url);
    expect(await own.json()).toEqual(await clone.json());
  });

  test("has no clones while somebody reads it", () => {
    const own = whole();
    own.body?.getReader();
    expect(() => own.clone()).toThrow(TypeError);
  });
});
