import { readdir } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { addPackages } from "@bursar/sandbox/packages";
import { expect, test } from "vitest";
import { temporaryFolder } from "./folder.js";
import { startIndex } from "./index-server.js";
import { buildTar, buildWheel, buildZip, metadataOf, type Packed, type Tarred } from "./packing.js";

const INFO: readonly Packed[] = [{ path: "demo-1.0.dist-info/METADATA", content: metadataOf("demo", "1.0") }];
const EGG: readonly Tarred[] = [
  { path: "demo-1.0/demo.egg-info/PKG-INFO", content: metadataOf("demo", "1.0") },
  { path: "demo-1.0/demo.egg-info/top_level.txt", content: "demo\n" },
  { path: "demo-1.0/demo.py", content: "x = 1\n" },
];

/** What `bursar packages add demo` does where an index serves these bytes, and which files are in the folder afterwards. */
async function add(name: string, bytes: Buffer) {
  await using index = await startIndex({ demo: [{ name, bytes }] });
  await using folder = await temporaryFolder();
  const added = addPackages(["demo"], { folder: folder.path, source: "pypi", indexUrl: index.url, env: {} });
  const outcome = await added.then(
    (report) => report.added,
    (error: { code?: string; message: string }) => `${error.code}: ${error.message}`,
  );
  return { outcome, files: await readdir(folder.path, { recursive: true }).catch(() => []) };
}

const wheelOf = (...files: readonly Packed[]) => add("demo-1.0-py3-none-any.whl", buildZip([...INFO, ...files]));
const tarOf = (tar: Buffer) => add("demo-1.0.tar.gz", gzipSync(tar));
const sdistOf = (...files: readonly Tarred[]) => tarOf(buildTar([...EGG, ...files]));

test("what is sound is taken from both kinds of archives", async () => {
  expect((await wheelOf({ path: "demo.py", content: "x = 1\n" })).outcome).toEqual(["demo 1.0"]);
  expect((await sdistOf()).outcome).toEqual(["demo 1.0"]);
});

const BAD_WHEELS: readonly (readonly [string, Packed, RegExp])[] = [
  ["a path that climbs", { path: "../evil.py", content: "evil" }, /no path inside a package/],
  ["an absolute path", { path: "/etc/evil.py", content: "evil" }, /no path inside a package/],
  ["a link", { path: "demo.py", content: "/etc/passwd", mode: 0o120777 }, /a link at "demo\.py"/],
  ["a wrong checksum", { path: "demo.py", content: "x", crc: 1 }, /not what the directory says/],
  ["two names for one file", { path: "demo.py", localPath: "evil.py", content: "x" }, /another name/],
  ["an encrypted file", { path: "demo.py", content: "x", flags: 1 }, /encrypted/],
  ["another way to pack", { path: "demo.py", content: "x", method: 12 }, /method 12/],
  ["more than it states", { path: "demo.py", content: Buffer.alloc(50_000_000), claimed: 100 }, /cannot be unpacked/],
  ["less than it states", { path: "demo.py", content: "x", claimed: 2 }, /not what the directory says/],
  ["a file that is too large", { path: "demo.py", content: "x", claimed: 100_000_000 }, /more than 67108864 bytes/],
];

test.for(BAD_WHEELS)("a wheel with %s is refused, and nothing is added", async ([, file, problem]) => {
  const { outcome, files } = await wheelOf(file);
  expect(outcome).toMatch(/^package_refused: demo 1\.0 is not taken: /);
  expect(outcome).toMatch(problem);
  expect(files.filter((path) => /demo|evil/.test(path))).toEqual([]);
});

test("a wheel with too many files, too many bytes or cut off is refused", async () => {
  const many = Array.from({ length: 20_000 }, (_, index) => ({ path: `demo/${index}.py`, method: 0 }));
  expect((await wheelOf(...many)).outcome).toMatch(/it holds 20001 files; at most 20000/);
  const large = Array.from({ length: 6 }, (_, index) => ({ path: `${index}.py`, content: "x", claimed: 60_000_000 }));
  expect((await wheelOf(...large)).outcome).toMatch(/at most 268435456 are taken/);
  const whole = buildWheel("demo", "1.0", {});
  for (const length of [0, 40, whole.length >> 1, whole.length - 1]) {
    expect((await add("demo-1.0-py3-none-any.whl", whole.subarray(0, length))).outcome).toMatch(
      /^package_refused: .*cut off/,
    );
  }
});

const BAD_SDISTS: readonly (readonly [string, Tarred, RegExp])[] = [
  ["a path that climbs", { path: "demo-1.0/../../evil.py", content: "evil" }, /no path inside a package/],
  ["an absolute path", { path: "/etc/evil.py", content: "evil" }, /no path inside a package/],
  ["a folder that climbs", { path: "demo-1.0/../../evil/", type: "5" }, /no path inside a package/],
  ["a link at a path that climbs", { path: "../evil.py", type: "2", link: "demo.py" }, /no path inside a package/],
  ["a device", { path: "demo-1.0/sda", type: "4" }, /neither a file nor a folder nor a link/],
];

test.for(BAD_SDISTS)("a source distribution with %s is refused, and nothing is added", async ([, file, problem]) => {
  const { outcome, files } = await sdistOf(file);
  expect(outcome).toMatch(/^package_refused: demo 1\.0 is not taken: /);
  expect(outcome).toMatch(problem);
  expect(files.filter((path) => /demo|evil/.test(path))).toEqual([]);
});

test("links of a source distribution never reach a file outside of it", async () => {
  const { outcome, files } = await sdistOf(
    { path: "demo-1.0/demo.egg-info/secret", type: "2", link: "/etc/passwd" },
    { path: "demo-1.0/demo.egg-info/higher", type: "2", link: "../../../../../../etc/passwd" },
    { path: "demo-1.0/demo.egg-info/hard", type: "1", link: "etc/passwd" },
  );
  expect(outcome).toEqual(["demo 1.0"]);
  expect(files.some((path) => path.endsWith("demo.py"))).toBe(true);
  expect(files.filter((path) => /secret|higher|hard/.test(path))).toEqual([]);
});

test("a source distribution that is damaged, cut off or too large is refused", async () => {
  const sound = buildTar([...EGG]);
  const damaged = Buffer.from(sound);
  damaged[3] = 0x62;
  expect((await tarOf(damaged)).outcome).toMatch(/^package_refused: .*cut off or damaged: .*checksum/);
  expect((await tarOf(sound.subarray(0, 900))).outcome).toMatch(/^package_refused: .*truncated/);
  expect((await add("demo-1.0.tar.gz", gzipSync(sound).subarray(0, 100))).outcome).toMatch(/no gzip file, is cut off/);
  const many = Array.from({ length: 20_000 }, (_, index) => ({ path: `demo-1.0/demo/${index}.py` }));
  expect((await sdistOf(...many)).outcome).toMatch(/more than 20000 files/);
  const large = buildTar([{ path: "demo-1.0/large", content: "x".repeat(67_108_865) }]);
  expect((await tarOf(large)).outcome).toMatch(/holds more than 67108864 bytes/);
  const body = "x".repeat(60_000_000);
  const links = Array.from({ length: 5 }, (_, index) => ({
    path: `demo-1.0/demo/${index}.py`,
    type: "1",
    link: "demo-1.0/a",
  }));
  const copied = buildTar([...EGG, { path: "demo-1.0/a", content: body }, ...links]);
  expect((await tarOf(copied)).outcome).toMatch(/unpacks to more than 268435456 bytes/);
  // A tar of zeros of 300 MB is about 300 KB in gzip.
  expect((await add("demo-1.0.tar.gz", gzipSync(Buffer.alloc(300_000_000)))).outcome).toMatch(/unpacks to too much/);
});
