import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { connect as connectSecure } from "node:tls";
import { expect, test } from "vitest";
import type { Asked } from "../../../src/gateway/clients/asked.js";
import { openClients } from "./stage.js";
const TLS = {
  cert: readFileSync(new URL("../tls/cert.pem", import.meta.url), "utf8"),
  key: readFileSync(new URL("../tls/key.pem", import.meta.url), "utf8"),
};
let seed = 1;
const rnd = (n: number) => ((seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 8) % n;
const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));
async function answer(asked: Asked): Promise<void> {
  const [, id, mode, size] = asked.url.split("/");
  if (mode === "pre") await wait(rnd(3));
  const early = asked.body(10_000_000);
  const body = early instanceof Promise ? await early : early;
  const out = Buffer.alloc(Number(size), `${id}é`);
  const head = Buffer.from(`${id}:${body?.length}:`);
  if (mode === "sync") return asked.reply.answer(200, {}, Buffer.concat([head, out]));
  if (rnd(2)) await wait(rnd(4));
  asked.reply.begin(200, {});
  if (rnd(2)) asked.reply.flush();
  asked.reply.write(head);
  for (let at = 0; at < out.length; ) {
    const n = [1, 100, 9000, 20000][rnd(4)] as number;
    const ok = asked.reply.write(out.subarray(at, at + n));
    at += n;
    if (!ok) await new Promise((r) => asked.reply.flow.once("drain", r));
    else if (rnd(10) === 0) await wait(0);
  }
  if (rnd(2)) asked.reply.end();
  else asked.reply.end(Buffer.from("!"));
}
function parse(all: Buffer): string[] {
  const got: string[] = [];
  let at = 0;
  while (at < all.length) {
    const e = all.indexOf("\r\n\r\n", at);
    if (e < 0) throw new Error(`rest ${all.subarray(at, at + 100).toString()}`);
    const h = all.toString("latin1", at, e);
    at = e + 4;
    if (h.startsWith("HTTP/1.1 100")) continue;
    if (!h.startsWith("HTTP/1.1 200")) throw new Error(h);
    const l = /content-length: (\d+)/.exec(h);
    let b = Buffer.alloc(0);
    if (l) { b = all.subarray(at, at + Number(l[1])); at += Number(l[1]); }
    else for (;;) {
      const x = all.indexOf("\r\n", at);
      const n = Number.parseInt(all.toString("latin1", at, x), 16);
      if (Number.isNaN(n)) throw new Error(`bad chunk ${all.toString("latin1", at, at + 40)}`);
      b = Buffer.concat([b, all.subarray(x + 2, x + 2 + n)]);
      if (all.toString("latin1", x + 2 + n, x + 4 + n) !== "\r\n") throw new Error("bad end");
      at = x + 4 + n;
      if (n === 0) break;
    }
    got.push(b.toString());
  }
  return got;
}
test.each([["plain", false], ["tls", true]])("fuzz %s", async (_n, tls) => {
  await using at = await openClients(answer, { tls: tls ? TLS : null });
  for (let round = 0; round < 120; round++) {
    seed = round * 7919 + 1;
    const port = Number(new URL(at.url).port);
    const s = tls ? connectSecure({ port, host: "127.0.0.1", rejectUnauthorized: false }) : connect(port, "127.0.0.1");
    s.setNoDelay(true);
    const pieces: Buffer[] = [];
    s.on("error", (e) => console.log(round, e));
    s.on("data", (p) => { pieces.push(p); if (rnd(3) === 0) { s.pause(); setTimeout(() => s.resume(), rnd(5)); } });
    const closed = new Promise((r) => s.on("close", r));
    const n = 1 + rnd(12);
    let text = "";
    const want: [number, number, number][] = [];
    for (let i = 0; i < n; i++) {
      const mode = ["sync", "pre", "stream"][rnd(3)] as string;
      const size = [0, 5, 8190, 30_000, 300_000][rnd(5)] as number;
      const len = [0, 3, 1000, 70_000, 200_000][rnd(5)] as number;
      const close = i === n - 1 ? "Connection: close\r\n" : "";
      const exp = rnd(4) === 0 ? "Expect: 100-continue\r\n" : "";
      if (rnd(2)) text += `POST /${i}/${mode}/${size} HTTP/1.1\r\nHost: a\r\n${close}${exp}Content-Length: ${len}\r\n\r\n${"b".repeat(len)}`;
      else {
        text += `POST /${i}/${mode}/${size} HTTP/1.1\r\nHost: a\r\n${close}${exp}Transfer-Encoding: chunked\r\n\r\n`;
        for (let k = 0; k < len; ) { const c = Math.min(len - k, 1 + rnd(30_000)); text += `${c.toString(16)}${rnd(2) ? ";x=y" : ""}\r\n${"c".repeat(c)}\r\n`; k += c; }
        text += rnd(2) ? "0\r\n\r\n" : "0\r\nA: b\r\n\r\n";
      }
      want.push([i, len, size]);
    }
    const bytes = Buffer.from(text);
    for (let k = 0; k < bytes.length; ) {
      const c = [1, 50, 5000, 100_000, 1_000_000][rnd(5)] as number;
      s.write(bytes.subarray(k, k + c));
      k += c;
      if (rnd(3) === 0) await wait(rnd(3));
    }
    const how = await Promise.race([closed.then(() => "closed"), wait(5000).then(() => "hangs")]);
    expect([round, how]).toEqual([round, "closed"]);
    const got = parse(Buffer.concat(pieces));
    expect(got.map((g) => g.split(":").slice(0, 2).join(":"))).toEqual(want.map(([i, len]) => `${i}:${len}`));
    got.forEach((g, i) => expect(Buffer.from(g).length).toBeGreaterThanOrEqual((want[i] as [number, number, number])[2]));
  }
}, 100_000);
