import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { builtPython, npmPython } from "../../src/python/python-manifest.js";

const OLD = "a".repeat(16);
const NEW = "b".repeat(16);
let guests: string;
beforeEach(async () => {
  guests = await mkdtemp(join(tmpdir(), "bursar-guests-"));
});
afterEach(() => rm(guests, { recursive: true, force: true }));

/** A build whose files are what its manifest says, unless they were changed since. */
async function build(folder: string, { changed = false, boot = false } = {}): Promise<void> {
  const place = join(guests, folder);
  await mkdir(place);
  const file = (name: string) => ({
    file: name,
    sha256: createHash("sha256").update(`${folder} ${name}`).digest("hex"),
  });
  for (const name of ["python.wasm", "stdlib.zip", "boot.py"])
    await writeFile(join(place, name), `${folder} ${name}${changed ? "!" : ""}`);
  const manifest = {
    format: 1,
    name: folder,
    language: "python",
    version: "3.11.2",
    home: "/python",
    stackPointer: 0,
    wasm: file("python.wasm"),
    stdlib: file("stdlib.zip"),
    entry: { kind: "export", name: "serve" },
    ...(boot && { boot: file("boot.py") }),
  };
  await writeFile(join(place, "manifest.json"), JSON.stringify(manifest));
}

test("a guest that brings boot code of its own is started by it, if it is what its manifest says", async () => {
  await build(OLD, { boot: true });
  expect((await builtPython(guests))?.boot).toBe(join(guests, OLD, "boot.py"));
  await writeFile(join(guests, OLD, "boot.py"), "something else");
  expect(await builtPython(guests)).toBeNull();
});

test("a guest that brings none is started by that of the sandbox", async () => {
  await build(OLD);
  expect((await builtPython(guests))?.boot).toBe(npmPython().boot);
});

test("the guest that was built last is used, whatever the others are called", async () => {
  await build(OLD);
  await build(NEW);
  await writeFile(join(guests, "cpython.json"), JSON.stringify({ folder: NEW }));
  expect((await builtPython(guests))?.name).toBe(NEW);
  await writeFile(join(guests, "cpython.json"), JSON.stringify({ folder: OLD }));
  expect((await builtPython(guests))?.name).toBe(OLD);
});

test("an older guest that is whole is better than none, and one that is not whole is none", async () => {
  await build(OLD);
  await build(NEW, { changed: true });
  await writeFile(join(guests, "cpython.json"), JSON.stringify({ folder: NEW }));
  expect((await builtPython(guests))?.name).toBe(OLD);
  await writeFile(join(guests, "cpython.json"), "no JSON");
  expect((await builtPython(guests))?.name).toBe(OLD);
  expect(await builtPython(join(guests, "nowhere"))).toBe(null);
});
