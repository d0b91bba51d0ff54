import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Fingerprint, load, SCRIPTS, type Source } from "./scripts.js";

const { buildHash, hashScripts, shapingScripts, SCRIPTS_HASH } = await load<Fingerprint>("fingerprint.mjs");
const { SOURCES } = await load<{ readonly SOURCES: readonly Source[] }>("sources.mjs");
const folder = mkdtempSync(join(tmpdir(), "bursar-scripts-"));
afterAll(() => rmSync(folder, { recursive: true }));

let copies = 0;
/** The hash of a copy of the scripts, to one of which something was added. */
async function hashWith(changed: string | null): Promise<string> {
  const copy = join(folder, String(copies++), "/");
  cpSync(SCRIPTS, copy, { recursive: true });
  if (changed !== null) appendFileSync(join(copy, changed), "\n");
  return (await load<Fingerprint>("fingerprint.mjs", copy)).SCRIPTS_HASH;
}

describe("the hash of the scripts", () => {
  const [one, two] = [Buffer.from("1"), Buffer.from("2")];

  test("does not depend on the order of files, but on every name and every byte", () => {
    const hash = hashScripts([
      ["a", one],
      ["b", two],
    ]);

    expect(
      hashScripts([
        ["b", two],
        ["a", one],
      ]),
    ).toBe(hash);
    expect(
      hashScripts([
        ["a", two],
        ["b", one],
      ]),
    ).not.toBe(hash);
    expect(
      hashScripts([
        ["a", one],
        ["c", two],
      ]),
    ).not.toBe(hash);
    expect(hashScripts([["a", one]])).not.toBe(hash);
  });

  test("does not depend on where the scripts are", async () => {
    expect(await hashWith(null)).toBe(SCRIPTS_HASH);
  });

  test.each([
    "settings.mjs",
    "sources.json",
    "fuel.json",
    "cpython.mjs",
    "bursar-module.c",
    "sqlite-wasi.h",
    "pack.py",
    "edits.mjs",
    "training.mjs",
    "training.py",
    "check/tree.mjs",
    "check/with-stdlib.mjs",
  ])("changes with %s, which shapes the guest", async (name) => {
    expect(await hashWith(name)).not.toBe(SCRIPTS_HASH);
  });

  test.each(["build.mjs", "build-guest.mjs", "progress.mjs", "check/compare.mjs", "check/promises.py"])(
    "does not change with %s, which does not",
    async (name) => {
      expect(await hashWith(name)).toBe(SCRIPTS_HASH);
    },
  );

  test("covers files that somebody adds", () => {
    const names = readdirSync(SCRIPTS, { withFileTypes: true }).filter((entry) => entry.isFile());
    const left = names.map(({ name }) => name).filter((name) => !shapingScripts().includes(name));

    expect(left.sort()).toEqual([
      "build-guest.d.mts",
      "build-guest.mjs",
      "build.mjs",
      "cache.mjs",
      "failure.mjs",
      "progress.mjs",
    ]);
    for (const name of shapingScripts()) expect(existsSync(join(SCRIPTS, name)), name).toBe(true);
  });
});

describe("the hash of a build", () => {
  const compiler = { "clang-19": "1:19.1.4-1", "wasi-libc": "0.0~git20230113" };

  test("is that of scripts, sources and compiler", () => {
    const hash = buildHash(compiler);
    const [first, ...rest] = SOURCES as [Source, ...Source[]];

    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(buildHash({ ...compiler })).toBe(hash);
    expect(buildHash({ ...compiler, "clang-19": "1:19.1.5-1" })).not.toBe(hash);
    expect(buildHash(compiler, "0".repeat(64))).not.toBe(hash);
    expect(buildHash(compiler, SCRIPTS_HASH, [{ ...first, sha256: "0".repeat(64) }, ...rest])).not.toBe(hash);
    expect(buildHash(compiler, SCRIPTS_HASH, [...SOURCES])).toBe(hash);
  });

  test("knows its sources by their hashes alone, each once", () => {
    for (const { file, sha256 } of SOURCES) {
      expect(file).toMatch(/^[a-z0-9.]+_[0-9.]+[a-z0-9.]*\.orig\.tar\.(gz|bz2|xz)$/);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    }
    expect(new Set(SOURCES.map(({ name }) => name)).size).toBe(SOURCES.length);
  });
});
