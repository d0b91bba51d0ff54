import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { SCRIPTS } from "./scripts.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-training-"));
afterAll(() => rmSync(folder, { recursive: true }));
const scripts = join(folder, "guest", "build");
cpSync(SCRIPTS, scripts, { recursive: true });

/** What a build is told that asks for the recorder in a copy of the package. */
function failure(): { readonly name: string; readonly exitCode: number; readonly message: string } {
  const program = `
    const { loadRecorder } = await import(${JSON.stringify(join(scripts, "training.mjs"))});
    const { name, exitCode, message } = await loadRecorder().catch((error) => error);
    console.log(JSON.stringify({ name, exitCode, message }));`;
  const args = ["--input-type=module", "-e", program];
  return JSON.parse(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout);
}

describe("training the meter", () => {
  test("needs the sandbox's own code, and says how to get it", () => {
    expect(failure()).toMatchObject({
      name: "BuildFailure",
      exitCode: 1,
      message: expect.stringContaining("npm run build does it"),
    });
  });

  test("does not write profiles that the build does not know", () => {
    const compiled = join(folder, "dist", "wasm");
    mkdirSync(compiled, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    writeFileSync(join(compiled, "record-profile.js"), "export const recording = null, Recorder = null;");
    writeFileSync(join(compiled, "profile.js"), "export const PROFILE_FORMAT = 99;");

    expect(failure()).toMatchObject({ name: "BuildFailure", message: expect.stringContaining("of format 99") });
  });

  test("is not done on what the benchmark measures: they have no function and no longer line in common", () => {
    const workloads = new URL("../../../../bench/src/sandbox/python-workloads.ts", import.meta.url);
    const [trained, measured] = [join(SCRIPTS, "training.py"), workloads].map((file) =>
      partsOf(readFileSync(file, "utf8")),
    );

    expect(measured?.size).toBeGreaterThan(50);
    expect([...(trained ?? [])].filter((part) => measured?.has(part))).toEqual([]);
  });
});

function partsOf(text: string): ReadonlySet<string> {
  const names = [...text.matchAll(/^(?:def|class) \w+/gm)].map(([name]) => name);
  const lines = text.split("\n").map((line) => line.trim());
  return new Set([...names, ...lines.filter((line) => line.length >= 24)]);
}
