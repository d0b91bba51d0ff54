import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { describe, expect, test } from "vitest";
import { opened } from "../opened.js";
import { openRaw, written } from "../raw.js";
import { until } from "../until.js";

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const TLS = {
  cert: readFileSync(new URL("../tls/cert.pem", import.meta.url), "utf8"),
  key: readFileSync(new URL("../tls/key.pem", import.meta.url), "utf8"),
};
function asking(secret: string, more: object = {}, pad = 0) {
  const body = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: `Hi${"x ".repeat(pad)}` }], max_tokens: 100, ...more });
  return written("POST /v1/chat/completions", ["Host: a", `Authorization: Bearer ${secret}`, `Content-Length: ${body.length}`], body);
}
async function open(url: string): Promise<Socket> {
  if (url.startsWith("http:")) return (await openRaw(url)).socket;
  const socket = connectSecure({ port: Number(new URL(url).port), host: "127.0.0.1", rejectUnauthorized: false });
  socket.on("error", () => {});
  socket.on("data", () => {});
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  return socket;
}
const HANG = { kind: "hang" } as const;

describe.each([["plain", {}], ["tls", { tls: TLS }]])("%s", (name, options) => {
  test.each([
    ["FIN", (s: Socket) => void s.end()],
    ["close", (s: Socket) => void s.destroy()],
    ["RST", (s: Socket) => void (name === "tls" ? s.destroy() : s.resetAndDestroy())],
  ])("hang up with %s while the provider is silent", async (_n, leave) => {
    await using at = await opened([HANG], { cost_usd: 1 }, options);
    const s = await open(at.gateway.url);
    s.write(asking(at.secret));
    await until("asked", () => at.model.count === 1);
    leave(s);
    await until("left", () => at.model.aborted === 1);
    await until("nothing held", async () => Object.keys(await at.held()).length === 0);
    await until("gone", async () => (await at.connections()) === 0);
    s.destroy();
  });
  test.each([
    ["FIN", (s: Socket) => void s.end()],
    ["close", (s: Socket) => void s.destroy()],
    ["RST", (s: Socket) => void (name === "tls" ? s.destroy() : s.resetAndDestroy())],
  ])("hang up with %s, large body, while provider silent", async (_n, leave) => {
    await using at = await opened([HANG], { cost_usd: 10 }, options);
    const s = await open(at.gateway.url);
    s.write(asking(at.secret, {}, 60_000));
    await until("asked", () => at.model.count === 1);
    leave(s);
    await until("left", () => at.model.aborted === 1);
    await until("nothing held", async () => Object.keys(await at.held()).length === 0);
    s.destroy();
  });
  test.each([100, 70_000, 200_000, 400_000])("hang up with %d bytes pipelined behind", async (size) => {
    await using at = await opened([HANG], { cost_usd: 10 }, options);
    const s = await open(at.gateway.url);
    s.write(asking(at.secret));
    await until("asked", () => at.model.count === 1);
    s.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${"x".repeat(size)}`);
    await wait(100);
    s.destroy();
    const left = await Promise.race([until("left", () => at.model.aborted === 1).then(() => "left"), wait(2000).then(() => "not noticed")]);
    expect(left).toBe("left");
  });
  test("hang up in the middle of head, body; before key", async () => {
    await using at = await opened([HANG, HANG, HANG, HANG, HANG], { cost_usd: 1 }, options);
    const whole = asking(at.secret);
    for (const cut of [1, 20, 60, whole.length - 40, whole.length - 1, whole.length]) {
      for (const how of ["end", "destroy"] as const) {
        const s = await open(at.gateway.url);
        s.write(whole.slice(0, cut));
        await new Promise((resolve) => setImmediate(resolve));
        s[how]();
      }
    }
    await until("gone", async () => (await at.connections()) === 0);
    await until("nothing held", async () => Object.keys(await at.held()).length === 0);
  });
  test("close with each going on ends in time", async () => {
    const at = await opened([HANG, { kind: "half", text: "word ".repeat(100), ending: "hang" }], { cost_usd: 1, steps: 2 }, options);
    const whole = asking(at.secret);
    const s: Socket[] = [];
    for (const text of ["", "G", whole.slice(0, 60), whole.slice(0, -3), whole, asking(at.secret, { stream: true }), whole, "bad\r\n\r\n", `${whole.replace("Bearer ", "Bearer x").slice(0, -3)}`, "\r", "\r\n"]) {
      const each = await open(at.gateway.url);
      each.write(text);
      s.push(each);
      await wait(20);
    }
    const began = Date.now();
    await at.gateway.close({ within_ms: 200 });
    expect(Date.now() - began).toBeLessThan(1000);
    expect(await at.held()).toEqual({});
    for (const each of s) each.destroy();
    await at[Symbol.asyncDispose]();
  });
});
