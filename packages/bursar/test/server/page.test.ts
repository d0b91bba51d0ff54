import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askRaw, written } from "../gateway/raw.js";
import { opened } from "./scene.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-page-"));
const page = join(folder, "dist");
const INDEX = "<!doctype html><title>Bursar</title>";
const SCRIPT = `console.log("${"x".repeat(2000)}")`;

beforeAll(() => {
  mkdirSync(join(page, "assets"), { recursive: true });
  writeFileSync(join(folder, "secret.txt"), "nobody may see this");
  writeFileSync(join(page, "index.html"), INDEX);
  writeFileSync(join(page, "assets", "app-1.js"), SCRIPT);
  writeFileSync(join(page, "assets", "app-1.js.br"), brotliCompressSync(SCRIPT));
  writeFileSync(join(page, "assets", "app-1.js.gz"), gzipSync(SCRIPT));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HTML = { accept: "text/html,*/*" };

describe("the page", () => {
  test("is there for everybody, also for those who have to log in", async () => {
    await using at = await opened({ page, requireLogin: true }, ["admin"]);
    const answer = await fetch(`${at.url}/`);
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
      200,
      "text/html; charset=utf-8",
      INDEX,
    ]);
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(answer.headers.get("content-security-policy")).toContain("script-src 'self'");
  });

  test("is at every address of its own, and at none of the API's", async () => {
    await using at = await opened({ page });
    for (const path of ["/runs/abc", "/runs/a.b", "/approvals/1", "/login"]) {
      expect(await (await fetch(`${at.url}${path}`, { headers: HTML })).text()).toBe(INDEX);
    }
    for (const path of ["/api/v1/nothing", "/api", "/mcp", "/assets/gone.js", "/runs/abc"]) {
      const headers = path === "/runs/abc" ? { accept: "application/json" } : HTML;
      const answer = await fetch(`${at.url}${path}`, { headers });
      expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
        path,
        404,
        "application/json; charset=utf-8",
      ]);
    }
    expect((await fetch(`${at.url}/`, { method: "POST" })).status).toBe(404);
  });

  test("has parts that are kept for good, compressed as the browser likes, and not sent twice", async () => {
    await using at = await opened({ page });
    const get = (headers: Record<string, string>) => fetch(`${at.url}/assets/app-1.js`, { headers });
    const lengths = new Map<string, string | null>();
    for (const encoding of ["br", "gzip", "identity", "br;q=0, gzip", "zstd"]) {
      const answer = await get({ "accept-encoding": encoding });
      expect(await answer.text()).toBe(SCRIPT);
      expect(answer.headers.get("cache-control")).toMatch(/immutable/);
      expect(answer.headers.get("vary")).toBe("accept-encoding");
      lengths.set(encoding, answer.headers.get("content-encoding"));
    }
    expect([...lengths.values()]).toEqual(["br", "gzip", null, "gzip", null]);
    const etag = (await get({ "accept-encoding": "br" })).headers.get("etag") ?? "";
    const again = await get({ "accept-encoding": "br", "if-none-match": `"other", W/${etag}` });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await get({ "accept-encoding": "gzip", "if-none-match": etag })).status).toBe(200);
    const head = await fetch(`${at.url}/assets/app-1.js`, {
      method: "HEAD",
      headers: { "accept-encoding": "identity" },
    });
    expect([head.headers.get("content-length"), await head.text()]).toEqual([String(SCRIPT.length), ""]);
  });

  test.each([
    "/../secret.txt",
    "/assets/../../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/..%5csecret.txt",
    "/..\\secret.txt",
    "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
    "/%252e%252e/secret.txt",
    "/assets/..;/..;/secret.txt",
    "//etc/passwd",
    "/index.html%00.txt",
    "/constructor",
    "/__proto__",
  ])("leads nowhere else: %s", async (path) => {
    await using at = await opened({ page });
    const headers = ["Host: localhost", "Connection: close"];
    const answer = await askRaw(at.url, written(`GET ${path}`, headers));
    expect([answer.status, answer.body.includes("nobody may see this")]).toEqual([404, false]);
  });

  test("that was not built is an error that says so", async () => {
    await expect(opened({ page: join(folder, "nothing") })).rejects.toThrow(/build the page first/);
    await expect(opened({ page: join(page, "assets") })).rejects.toThrow(/no index.html/);
  });

  test("is no way out of its folder by a link in it", async () => {
    const linked = join(folder, "linked");
    mkdirSync(linked);
    writeFileSync(join(linked, "index.html"), INDEX);
    symlinkSync(join(folder, "secret.txt"), join(linked, "link.txt"));
    await using at = await opened({ page: linked });
    expect((await fetch(`${at.url}/link.txt`)).status).toBe(404);
  });

  test("is missed where there is none", async () => {
    await using at = await opened();
    const { status, body } = await at.get("/", HTML);
    expect([status, body.error.hint]).toEqual([404, "this server has no page; it has an API"]);
  });
});
