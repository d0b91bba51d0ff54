import { statSync } from "node:fs";
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
