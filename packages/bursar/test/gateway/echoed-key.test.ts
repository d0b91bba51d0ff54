import type { OutgoingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { opened } from "./opened.js";
import { openServer } from "./server.js";

/** In base64 it has a `+` and a `/`, wherever it begins. */
const KEY = "sk-proj/Q7+echoed==key0123456789~~~???";
const ASK = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Hi" }], max_tokens: 50 };
const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

/** A provider that answers with this, whatever it is asked. */
interface Echo {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly pieces: readonly (string | Uint8Array)[];
}

async function scene({ status = 200, headers = {}, pieces }: Echo) {
  const provider = await openServer(async (_incoming, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    for (const piece of pieces) {
      response.write(piece);
      // Each piece comes by itself.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end();
  });
  const complaints: unknown[] = [];
  const upstreams = [{ name: "echo", url: provider.url, key: KEY }];
  const at = await opened([], { cost_usd: 10 }, { upstreams, onError: (error) => complaints.push(error) });
  const shown = async (answer: Response) => ({
    status: answer.status,
    text: await answer.text(),
    headers: JSON.stringify([...answer.headers]),
  });
  return {
    ...at,
    complaints,
    ask: async (more: object = {}) => shown(await at.post("/v1/chat/completions", { ...ASK, ...more })),
    get: async (path: string) =>
      shown(
        await fetch(`${at.gateway.url}${path}`, {
          headers: { authorization: `Bearer ${at.secret}` },
          redirect: "manual",
        }),
      ),
    [Symbol.asyncDispose]: async () => {
      await at[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** All that a client gets, byte by byte. */
async function sentRaw(port: number, secret: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const body = JSON.stringify(ASK);
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: 127.0.0.1",
    `Authorization: Bearer ${secret}`,
    "TE: trailers",
  ];
  socket.write([...head, `Content-Length: ${body.length}`, "Connection: close", "", body].join("\r\n"));
  return await text(socket);
}

function completion(content: string): string {
  return JSON.stringify({ id: "1", model: "gpt-4o", choices: [{ message: { content } }], usage: USAGE });
}

function event(content: string): string {
  return `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content } }] })}\n\n`;
}

const ENDING = `data: ${JSON.stringify({ id: "1", choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`;

/** The key, as somebody would look for it in what a client got. */
const FORMS: Readonly<Record<string, string>> = {
  plain: KEY,
  "JSON with escaped slashes": KEY.replaceAll("/", "\\/"),
  "JSON in code points": [...KEY].map((each) => `\\u00${each.charCodeAt(0).toString(16)}`).join(""),
  "percent-encoded": encodeURIComponent(KEY),
  base64: Buffer.from(KEY).toString("base64"),
  "base64 of a login": Buffer.from(`user:${KEY}:`).toString("base64"),
  "base64 of a header": Buffer.from(`Bearer ${KEY}\n`).toString("base64"),
  base64url: Buffer.from(`x${KEY}`).toString("base64url"),
  "base64 in JSON of PHP's": Buffer.from(KEY).toString("base64").replaceAll("/", "\\/"),
  "base64 in JSON of .NET's": Buffer.from(KEY).toString("base64").replaceAll("+", "\\u002B"),
  "base64, percent-encoded": encodeURIComponent(Buffer.from(`u:${KEY}`).toString("base64")),
  hex: Buffer.from(KEY).toString("hex"),
  "JSON with what .NET escapes": KEY.replaceAll("+", "\\u002B"),
  "JSON with one code point, in capitals": KEY.replace("o", "\\u006F"),
  "JSON in code points, in capitals": [...KEY]
    .map((each) => `\\u00${each.charCodeAt(0).toString(16).toUpperCase()}`)
    .join(""),
  "JSON in JSON": JSON.stringify(KEY.replaceAll("/", "\\/")).slice(1, -1),
  "percent-encoded in small letters": encodeURIComponent(KEY).replaceAll(/%../g, (each) => each.toLowerCase()),
  "percent-encoded in part": KEY.replaceAll("+", "%2b"),
  "percent-encoded twice": encodeURIComponent(encodeURIComponent(KEY)),
  "HTML entities": KEY.replaceAll("+", "&#43;").replaceAll("/", "&#x2F;"),
  "small letters": KEY.toLowerCase(),
  capitals: KEY.toUpperCase(),
};

/** The middle of a text, which is left of it where only the letters at its ends differ. */
function middleOf(text: string): string {
  return text.slice(Math.floor(text.length / 3), Math.floor(text.length / 3) + 8);
}

describe("an upstream's key that the upstream answers with", () => {
  test.each(Object.entries(FORMS))("is masked in a whole answer, its headers and a stream: %s", async (_name, form) => {
    const whole = completion("x").replace('"x"', `"before ${form} after"`);
    const headers = { "x-echo": form, "set-echo": [`a=${form}`, "b"] };
    await using at = await scene({ headers, pieces: [whole] });
    const answer = await at.ask();
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("before ");
    expect(answer.text).toContain(" after");
    expect(answer.text + answer.headers).not.toContain(middleOf(form));
    expect(answer.text).toHaveLength(whole.length);
    expect(JSON.parse(answer.text).usage).toEqual(USAGE);
    const said = event("x").replace('"x"', `"before ${form} after"`);
    const stream = { headers: { "content-type": "text/event-stream" }, pieces: [said, ENDING] };
    await using streaming = await scene(stream);
    const streamed = await streaming.ask({ stream: true });
    expect(streamed.text).toContain("before ");
    expect(streamed.text).toContain(" after");
    expect(streamed.text).not.toContain(middleOf(form));
    expect(await streaming.used()).toMatchObject({ llm_tokens: 12 });
  });

  test("is masked in a stream wherever it is cut into pieces", async () => {
    const said = `${event("Hello")}data: {"error": {"message": "Incorrect API key: ${KEY}"}}\n\n`;
    const at = said.indexOf(KEY);
    for (let cut = 0; cut <= KEY.length; cut += 4) {
      const pieces = [said.slice(0, at + cut), said.slice(at + cut, at + cut + 2), said.slice(at + cut + 2)];
      await using streaming = await scene({ headers: { "content-type": "text/event-stream" }, pieces });
      const { text } = await streaming.ask({ stream: true });
      expect(text).toContain("Hello");
      expect(text).not.toContain(KEY.slice(0, 12));
      expect(text).not.toContain(KEY.slice(-12));
    }
  });

  test("is masked in a stream wherever it is cut, however it is written", async () => {
    for (const form of [FORMS["JSON with what .NET escapes"], FORMS["percent-encoded in small letters"]] as string[]) {
      const said = `${event("Hello")}data: {"error": {"message": "Incorrect API key: ${form}"}}\n\n`;
      const at = said.indexOf(form);
      for (let cut = 0; cut <= form.length; cut += 3) {
        const pieces = [said.slice(0, at + cut), said.slice(at + cut, at + cut + 2), said.slice(at + cut + 2)];
        await using streaming = await scene({ headers: { "content-type": "text/event-stream" }, pieces });
        const { text } = await streaming.ask({ stream: true });
        expect(text).toContain("Hello");
        expect(text).not.toContain(form.slice(0, 12));
        expect(text).not.toContain(form.slice(-12));
      }
    }
  });

  test("is masked in a stream that breaks off in the middle of it", async () => {
    const pieces = [event("Hello"), `data: ${KEY.slice(0, -1)}`];
    await using streaming = await scene({ headers: { "content-type": "text/event-stream" }, pieces });
    expect((await streaming.ask({ stream: true })).text).not.toContain(KEY.slice(0, 12));
  });

  test.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ] as const)("is masked in an answer that is compressed: %s", async (encoding, compress) => {
    const headers = { "content-encoding": encoding };
    await using at = await scene({ headers, pieces: [compress(completion(`key ${KEY}`))] });
    const { text } = await at.ask();
    expect(text).toContain("key ****");
    expect(text).not.toContain(KEY);
  });

  test("is masked in lists, in redirects and in headers of errors, and an error that names it is not passed on", async () => {
    const list = { object: "list", data: [{ id: "gpt-4o", owned_by: KEY }] };
    await using listing = await scene({ headers: { [`x-${KEY.slice(0, 7)}`]: "1" }, pieces: [JSON.stringify(list)] });
    expect((await listing.get("/v1/models")).text).not.toContain(KEY);
    const location = `https://other.example/?key=${encodeURIComponent(KEY)}`;
    await using moved = await scene({ status: 307, headers: { location, "x-key": KEY }, pieces: [] });
    const redirect = await moved.get("/v1/models");
    expect(redirect.status).toBe(307);
    expect(redirect.headers).not.toMatch(/echoed/);
    await using failing = await scene({ status: 429, headers: { "x-key": `k ${KEY}` }, pieces: ["{}"] });
    const failed = await failing.ask();
    expect([failed.status, failed.headers.includes("echoed")]).toEqual([429, false]);
    await using telling = await scene({ status: 403, pieces: [JSON.stringify({ error: FORMS.base64 })] });
    const told = await telling.ask();
    expect([told.status, told.text.includes("upstream_denied")]).toEqual([502, true]);
    expect(telling.complaints).toHaveLength(1);
  });

  test("is masked in names of headers, in early hints, in trailers and where a login is asked for", async () => {
    const named = "sk-proj_Q7-Echoed-key0123456789";
    const provider = await openServer((_incoming, response) => {
      response.writeEarlyHints({ link: `<https://a.example/${named}>; rel=preload`, "x-hint": named });
      response.writeHead(200, {
        "content-type": "application/json",
        trailer: "x-end",
        [`x-${named}`]: "1",
        "www-authenticate": `Bearer realm="${named}"`,
      });
      response.addTrailers({ "x-end": named });
      response.end(completion("Yes."));
    });
    const upstreams = [{ name: "echo", url: provider.url, key: named }];
    await using at = await opened([], { cost_usd: 10 }, { upstreams });
    const { port } = new URL(at.gateway.url);
    const raw = await sentRaw(Number(port), at.secret);
    expect(raw).toContain("Yes.");
    expect(raw.toLowerCase()).not.toContain("echoed");
    await provider[Symbol.asyncDispose]();
  });

  test("gets neither into the chain nor into what is complained of", async () => {
    const said = JSON.stringify({
      id: KEY,
      model: KEY,
      service_tier: KEY,
      choices: [],
      usage: { ...USAGE, cost: KEY },
    });
    await using at = await scene({ pieces: [said] });
    await at.ask();
    await using failing = await scene({ status: 500, pieces: [`{"error":{"message":"${KEY}"}}`] });
    await failing.ask();
    for (const { store, complaints } of [at, failing]) {
      const lines: string[] = [];
      for await (const line of store.chain("team")) lines.push(line);
      expect(lines.length).toBeGreaterThan(1);
      expect(lines.join("")).not.toContain("echoed");
      expect(complaints.map((each) => `${each} ${JSON.stringify(each)}`).join("")).not.toContain("echoed");
    }
  });

  test("is masked beside another one that it is the beginning of, and with signs of a pattern in it", async () => {
    const long = "sk-one(.*)+[a-z]$^-longer";
    const said = completion(`${long} and sk-one(.*)+[a-z]$^`);
    const provider = await openServer((_incoming, response) => void response.end(said));
    for (const key of [long, "sk-one(.*)+[a-z]$^"]) {
      await using at = await opened([], { cost_usd: 10 }, { upstreams: [{ name: "up", url: provider.url, key }] });
      const text = await (await at.post("/v1/chat/completions", ASK)).text();
      expect(text).not.toContain(key);
      expect(JSON.parse(text).usage).toEqual(USAGE);
    }
    await provider[Symbol.asyncDispose]();
  });

  test("does not hold back the events of a stream", async () => {
    const provider = await openServer((_incoming, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      // What follows never comes.
      response.write(event("sk-proj/Q7"));
    });
    const upstreams = [{ name: "echo", url: provider.url, key: KEY }];
    await using at = await opened([], { cost_usd: 10 }, { upstreams });
    const answer = await at.post("/v1/chat/completions", { ...ASK, stream: true });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(Buffer.from(value ?? []).toString()).toContain("sk-proj/Q7");
    await reader.cancel();
    await provider[Symbol.asyncDispose]();
  });

  test("is masked for all that answers are shared with", async () => {
    await using at = await scene({ pieces: [completion(`key ${KEY}`)] });
    const [first, second] = await Promise.all([at.ask(), at.ask()]);
    expect(`${first?.text}${second?.text}`).not.toContain(KEY);
  });

  test("that is no more than a placeholder leaves answers as they are", async () => {
    const said = completion("none of the above");
    const provider = await openServer((_incoming, response) => void response.end(said));
    const upstreams = [{ name: "local", url: provider.url, key: "none" }];
    await using at = await opened([], { cost_usd: 10 }, { upstreams });
    expect(await (await at.post("/v1/chat/completions", ASK)).text()).toBe(said);
    await provider[Symbol.asyncDispose]();
  });
});
