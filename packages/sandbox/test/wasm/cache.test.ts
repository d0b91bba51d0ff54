import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cached } from "../../src/wasm/cache.js";

const SOURCE = Uint8Array.of(1, 2, 3);
const KEY = { what: "metered-module", source: SOURCE, version: "1" } as const;

let folder: string;
let made: number;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "bursar-cache-")), "deep", "down");
  made = 0;
});

afterEach(async () => {
  await rm(join(folder, "..", ".."), { recursive: true, force: true });
});

function make(): Uint8Array {
  made += 1;
  return Uint8Array.of(9, 8, 7, made);
}

async function onlyFile(): Promise<string> {
  const files = await readdir(folder);
  expect(files).toHaveLength(1);
  return join(folder, files[0] ?? "");
}

describe("derived bytes", () => {
  test("are made once, and read after that", async () => {
    const first = await cached(folder, KEY, make);
    const second = await cached(folder, KEY, make);

    expect([...second]).toEqual([...first]);
    expect(made).toBe(1);
  });

  test("are found by the hash of the source too", async () => {
    await cached(folder, KEY, make);
    await cached(folder, { ...KEY, source: createHash("sha256").update(SOURCE).digest("hex") }, make);

    expect(made).toBe(1);
  });

  test("are made once when many ask at the same time", async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => cached(folder, KEY, async () => make())));

    expect(made).toBe(1);
    for (const each of all) expect([...each]).toEqual([9, 8, 7, 1]);
  });

  test.for([
    { ...KEY, what: "image" },
    { ...KEY, version: "2" },
    { ...KEY, source: Uint8Array.of(1, 2) },
  ])("are others for another key: %o", async (other) => {
    await cached(folder, KEY, make);
    await cached(folder, other, make);

    expect(made).toBe(2);
    expect(await readdir(folder)).toHaveLength(2);
  });

  test("an error of whoever makes them is passed on, and the next one may try again", async () => {
    const fail = () => Promise.reject(new Error("no"));
    await expect(cached(folder, KEY, fail)).rejects.toThrow("no");

    expect([...(await cached(folder, KEY, make))]).toEqual([9, 8, 7, 1]);
  });
});

describe("a broken file is made again:", () => {
  test.for<readonly [string, (bytes: Buffer) => Buffer]>([
    ["empty", () => Buffer.alloc(0)],
    ["cut off", (bytes) => bytes.subarray(0, -1)],
    ["longer", (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
    ["changed", (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.of(99)])],
    ["changed in its header", (bytes) => Buffer.concat([Buffer.of(0), bytes.subarray(1)])],
  ])("%s", async ([, damage]) => {
    await cached(folder, KEY, make);
    const file = await onlyFile();
    await writeFile(file, damage(await readFile(file)));

    expect([...(await cached(folder, KEY, make))]).toEqual([9, 8, 7, 2]);
    expect([...(await cached(folder, KEY, make))]).toEqual([9, 8, 7, 2]);
    expect(made).toBe(2);
  });

  test("a folder in its place is left alone, and the bytes are made", async () => {
    await cached(folder, KEY, make);
    const file = await onlyFile();
    await rm(file);
    await cached(join(file, "x"), { ...KEY, what: "other" }, make);

    expect([...(await cached(folder, KEY, make))]).toEqual([9, 8, 7, 3]);
    expect((await stat(file)).isDirectory()).toBe(true);
    expect(await readdir(folder)).toHaveLength(1);
  });
});

describe("the folder", () => {
  test("belongs to the user alone", async () => {
    await cached(folder, KEY, make);
    expect((await stat(folder)).mode & 0o077).toBe(0);
    expect((await stat(await onlyFile())).mode & 0o077).toBe(0);
  });

  test("need not be one that can be written", async () => {
    await writeFile(join(folder, "..", "..", "file"), "");
    const impossible = join(folder, "..", "..", "file", "below");

    expect([...(await cached(impossible, KEY, make))]).toEqual([9, 8, 7, 1]);
  });

  test("is rid of what a crash has left half written", async () => {
    await cached(folder, KEY, make);
    const [old, young] = [join(folder, "image-x.1.tmp"), join(folder, "image-x.2.tmp")];
    await writeFile(old, "half");
    await writeFile(young, "half");
    await utimes(old, new Date(0), new Date(0));

    await cached(folder, { ...KEY, version: "2" }, make);

    const files = await readdir(folder);
    expect(files).toHaveLength(3);
    expect(files).toContain("image-x.2.tmp");
  });
});

describe("what nobody has used for a month", () => {
  const [month, week] = [31, 7].map((days) => new Date(Date.now() - days * 86_400_000)) as [Date, Date];

  test("is removed when another of its kind is written, and nothing else is", async () => {
    const paths: Record<string, string> = {};
    for (const [name, key] of Object.entries({
      old: { ...KEY, version: "old" },
      younger: { ...KEY, version: "younger" },
      other: { ...KEY, what: "metered-module-2", version: "old" },
    })) {
      const before = new Set(await readdir(folder).catch(() => []));
      await cached(folder, key, make);
      paths[name] = join(folder, (await readdir(folder)).find((each) => !before.has(each)) ?? "");
    }
    const foreign = join(folder, "metered-module-notes");
    await writeFile(foreign, "mine");
    const { old = "", younger = "", other = "" } = paths;
    for (const path of [old, other, foreign]) await utimes(path, month, month);
    await utimes(younger, week, week);

    await cached(folder, { ...KEY, version: "new" }, make);

    const left = (await readdir(folder)).map((name) => join(folder, name));
    expect(left).toHaveLength(4);
    expect(left).toEqual(expect.arrayContaining([younger, other, foreign]));
  });

  test("is what was not read: a file that is read counts as used", async () => {
    await cached(folder, KEY, make);
    const file = await onlyFile();
    await utimes(file, month, month);
    await cached(folder, KEY, make);
    expect((await stat(file)).mtimeMs).toBeGreaterThan(week.getTime());

    await cached(folder, { ...KEY, version: "2" }, make);
    expect(await readdir(folder)).toHaveLength(2);
    expect(made).toBe(2);
  });

  test("is not what is being read right now", async () => {
    await cached(folder, KEY, make);
    await utimes(await onlyFile(), month, month);
    const [again] = await Promise.all([cached(folder, KEY, make), cached(folder, { ...KEY, version: "2" }, make)]);
    expect([...again]).toEqual([9, 8, 7, 1]);
    expect(await readdir(folder)).toHaveLength(2);
  });
});

test.for(["", "../x", "A", "a/b", "a".repeat(65)])("%o is no name", async (what) => {
  await expect(cached(folder, { ...KEY, what }, make)).rejects.toThrow(RangeError);
});

test("a source has to be bytes or a hash", async () => {
  await expect(cached(folder, { ...KEY, source: "abc" }, make)).rejects.toThrow(RangeError);
});
