import { readdirSync, readFileSync, statSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { keyIn } from "../../src/sessions/signed.js";
import { testPlaces } from "./places.js";

// A disk such as exFAT, on which no file can have two names.
const link = vi
  .spyOn(fs, "link")
  .mockRejectedValue(Object.assign(new Error("operation not permitted"), { code: "EPERM" }));
syncBuiltinESMExports();

const { folder } = testPlaces("key-without-links");

test("a key is made where no file can have two names, and none is replaced", async () => {
  const file = join(folder, "disk", "key");
  const key = await keyIn(file);
  expect(await keyIn(file)).toEqual(key);
  expect(link).toHaveBeenCalled();
  expect(readFileSync(file)).toEqual(Buffer.from(key));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, "disk"))).toEqual(["key"]);
});
