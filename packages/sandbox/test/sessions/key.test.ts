import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { openSandbox } from "@bursar/sandbox";
import { expect, test } from "vitest";
import { keyIn } from "../../src/sessions/signed.js";
import { testPlaces } from "./places.js";

const { folder, places } = testPlaces("key");
const SIGNED = fileURLToPath(new URL("../../dist/sessions/signed.js", import.meta.url));

test("a key is made once, for its owner alone, and nothing is left beside it", async () => {
  const file = join(folder, "new", "key");
  const key = await keyIn(file);
  expect(key.length).toBe(32);
  expect(await keyIn(file)).toEqual(key);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, "new"))).toEqual(["key"]);
});

test("all who come first at the same time have the same key", async () => {
  for (let round = 0; round < 200; round++) {
    const file = join(folder, "together", `key-${round}`);
    const keys = await Promise.all(Array.from({ length: 8 }, () => keyIn(file)));
    const kept = readFileSync(file);
    for (const key of keys) expect(Buffer.from(key).equals(kept)).toBe(true);
  }
});

test("processes that start at the same time have the same key", async () => {
  const file = join(folder, "processes", "key");
  const program = `
    const { keyIn } = await import(${JSON.stringify(SIGNED)});
    process.stdout.write(Buffer.from(await keyIn(${JSON.stringify(file)})).toString("hex"));`;
  const keys = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [key] = await Promise.all([text(child.stdout), once(child, "exit")]);
      return key;
    }),
  );
  expect(new Set(keys)).toEqual(new Set([readFileSync(file).toString("hex")]));
});

test.each([
  ["empty", 0],
  ["cut", 31],
  ["too long", 33],
])("a key that is %s is refused, and stays as it is", async (name, bytes) => {
  const file = join(folder, `damaged-${bytes}`);
  writeFileSync(file, Buffer.alloc(bytes, 7));
  await using sandbox = await openSandbox({ ...places, keyFile: file, workers: 1, isolation: "thread" });
  const session = await sandbox.createSession({ language: "javascript" });
  await expect(session.save(), name).rejects.toThrow(
    `keyFile ${file} is damaged: it has ${bytes} bytes and not 32. Put a copy of it back; or remove it`,
  );
  expect(readFileSync(file)).toEqual(Buffer.alloc(bytes, 7));
});

test("a key that cannot be read is not taken for one that is not there", async () => {
  const file = join(folder, "a-folder");
  mkdirSync(file);
  await expect(keyIn(file)).rejects.toThrow(`keyFile ${file} cannot be read (EISDIR)`);
});
