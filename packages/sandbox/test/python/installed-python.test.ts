import { createHash } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installedPython, installedPythonFolder } from "../../src/python/python-manifest.js";

let project: string;
let place: string;
beforeEach(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), "bursar-installed-")));
  place = join(project, "node_modules", "@bursar", "guest-cpython");
  await mkdir(place, { recursive: true });
});
afterEach(() => rm(project, { recursive: true, force: true }));

/** A package as a release would publish it, but for what is said otherwise. */
async function publish(changes: object = {}): Promise<void> {
  const file = (name: string) => ({ file: name, sha256: createHash("sha256").update(name).digest("hex") });
  for (const name of ["python.wasm", "python311.zip"]) await writeFile(join(place, name), name);
  const manifest = {
    format: 1,
    name: "cpython",
    language: "python",
    version: "3.11.2",
    home: "/python",
    stackPointer: 0,
    wasm: file("python.wasm"),
    stdlib: file("python311.zip"),
    entry: { kind: "export", name: "bursar_run" },
    ...changes,
  };
  await writeFile(join(place, "manifest.json"), JSON.stringify(manifest));
  await writeFile(join(place, "package.json"), JSON.stringify({ name: "@bursar/guest-cpython", version: "3.11.2-1" }));
}

test("a package that is installed is found from where it can be imported", async () => {
  const from = join(project, "node_modules", "@bursar", "sandbox", "dist", "a.js");
  expect(installedPythonFolder(from)).toBe(null);
  await publish();
  expect(installedPythonFolder(from)).toBe(place);
  expect(await installedPython(place)).toMatchObject({
    name: "cpython",
    version: "3.11.2",
    wasm: join(place, "python.wasm"),
    profile: null,
    entry: { kind: "export", name: "bursar_run" },
    stdlib: { kind: "zip", file: join(place, "python311.zip") },
  });
});

test.each([
  [{ format: 2 }, "its manifest is of format 2; known here: 1"],
  [{ language: "ruby" }, "its language is ruby; known here: python"],
  [{ entry: undefined }, "its manifest names no entry of the kind export"],
  [{ entry: { kind: "vectorcall" } }, "its manifest names no entry of the kind export"],
  [{ wasm: { file: "python.wasm", sha256: "0" } }, "python.wasm is not what its manifest says"],
  [{ stdlib: { file: "none.zip", sha256: "0" } }, "none.zip cannot be read"],
  [{ wasm: undefined }, "its manifest cannot be read"],
])("one with %j is refused, with what to do about it", async (changes, why) => {
  await publish(changes);
  await expect(installedPython(place)).rejects.toThrow(
    `@bursar/guest-cpython in ${place} cannot be used: ${why}. Install it again, or set BURSAR_GUEST=npm to do without`,
  );
});
