import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPage } from "./built-page.js";

const MOST_BYTES = 100 * 1024;

let page: Awaited<ReturnType<typeof buildPage>>;
let files: ReadonlyMap<string, Buffer>;
beforeAll(async () => {
  page = await buildPage();
  const names = readdirSync(page.folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.\w+$/.test(name));
  files = new Map(names.map((name) => [name, readFileSync(join(page.folder, name))]));
});
afterAll(() => page[Symbol.asyncDispose]());

const plain = () => [...files].filter(([name]) => !/\.(?:gz|br)$/.test(name));

test("all of the page, with its charts and its verifier, is under 100 KB gzipped", () => {
  const bytes = plain().map(([, content]) => gzipSync(content).length);

  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(MOST_BYTES);
});

test("the licences of all that others have written come with it", () => {
  const { devDependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const licences = files.get("licenses.txt")?.toString() ?? "";
  for (const name of ["preact", "uplot", "@noble/hashes"]) {
    expect(Object.keys(devDependencies)).toContain(name);
    expect(licences).toMatch(new RegExp(`^## ${name} - .*MIT[^]*Copyright`, "m"));
  }
});

test("every file is there in its compressed forms too", () => {
  for (const [name, content] of plain()) {
    expect(gunzipSync(files.get(`${name}.gz`) ?? Buffer.alloc(0)).equals(content), name).toBe(true);
    expect(brotliDecompressSync(files.get(`${name}.br`) ?? Buffer.alloc(0)).equals(content), name).toBe(true);
  }
});

test("nothing is inline, and nothing comes from elsewhere, as the content security policy demands", () => {
  const html = files.get("index.html")?.toString() ?? "";

  expect(html).toContain('<script type="module"');
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
  expect([...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address?.split("/")[1])).toEqual(
    expect.not.arrayContaining([""]),
  );
  expect(html).not.toMatch(/https?:/);
});
