import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { METER_VERSION, writeProfile } from "@bursar/wasm-fuel";
import { afterAll, expect, test } from "vitest";
import { pythonBasis, pythonModule } from "../../src/python/python-image.js";
import { npmPython } from "../../src/python/python-manifest.js";

const folder = await mkdtemp(join(tmpdir(), "bursar-profile-"));
afterAll(() => rm(folder, { recursive: true }));

const file = join(folder, "python.profile");
const bytes = writeProfile({ levels: Uint8Array.of(1, 2, 3) });
const sha256 = createHash("sha256").update(bytes).digest("hex");
await writeFile(file, bytes);

test("the profile is part of what defines fuel", async () => {
  expect((await pythonBasis(npmPython())).meter).toBe(METER_VERSION);
  expect((await pythonBasis({ ...npmPython(), profile: { file, sha256 } })).meter).toBe(`${METER_VERSION}+${sha256}`);
});

test("a profile that was changed since it was named is refused, and so is one of another guest", async () => {
  const made = (profile: { file: string; sha256: string }) =>
    pythonModule({ ...npmPython(), profile }, join(folder, "cache"), 4096);

  await expect(made({ file, sha256: "0".repeat(64) })).rejects.toThrow(/is not the profile that its manifest names/);
  await expect(made({ file, sha256 })).rejects.toThrow(/the profile is of 3 edges/);
});
