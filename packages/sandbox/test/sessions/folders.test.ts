import { mkdtempSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openSandbox } from "@bursar/sandbox";
import { expect, test } from "vitest";
import { testPlaces } from "./places.js";

const { folder } = testPlaces("folders");

test("the sandbox's own folders are private, and those that lead to them are not", async () => {
  const mask = process.umask(0o022);
  try {
    const [cacheFolder, packagesFolder] = [join(folder, "a", "b", "cache"), join(folder, "c", "d", "packages")];
    const keyFile = join(folder, "e", "f", "key");
    await using sandbox = await openSandbox({ cacheFolder, packagesFolder, keyFile, workers: 1 });
    const session = await sandbox.createSession({ language: "javascript" });
    await session.save();
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect([cacheFolder, packagesFolder, join(folder, "e", "f")].map(mode)).toEqual(["700", "700", "700"]);
    expect(["a", "a/b", "c", "c/d", "e"].map((path) => mode(join(folder, path)))).toEqual(Array(5).fill("755"));
    expect(mode(keyFile)).toBe("600");
  } finally {
    process.umask(mask);
  }
});

test("what takes long to make is kept for the next process, also by one that may write nowhere else", async () => {
  const cacheFolder = mkdtempSync(join(folder, "kept-"));
  await using sandbox = await openSandbox({ cacheFolder, packagesFolder: join(folder, "kept-packages"), workers: 1 });
  for (const [language, code, part] of [
    ["javascript", "console.log(1)", "quickjs-image"],
    ["python", "print(1)", "python-image"],
  ] as const) {
    const session = await sandbox.createSession({ language });
    expect((await session.execute(code)).stdout).toBe("1\n");
    expect(readdirSync(cacheFolder).some((name) => name.startsWith(part))).toBe(true);
  }
});
