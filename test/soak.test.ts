import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SOAK = fileURLToPath(new URL("soak.mjs", import.meta.url));

function soak(args: readonly string[], seed = "1") {
  const env = { ...process.env, BURSAR_SEED: seed };
  return spawnSync(process.execPath, [SOAK, ...args], { encoding: "utf8", env, timeout: 20_000 });
}

test("the soak tells how it is used", () => {
  expect(soak(["--help"])).toMatchObject({ status: 0, stdout: expect.stringContaining("--minutes"), stderr: "" });
});

test.for([[["--seeds", "x"]], [["--minutes", "0"]], [["--minutes"]], [["--sedes", "7"]], [["7"]], [[], "x"]] as const)(
  "the soak refuses %j in one line",
  ([args, seed]) => {
    const { status, stdout, stderr } = soak(args, seed);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^soak: [^\n]+; see npm run soak -- --help\n$/);
  },
);
