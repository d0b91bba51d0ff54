import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const REFERENCE = join(ROOT, "docs", "REFERENCE");

/** What the generator says of the pages in a folder. */
function check(folder: string): { readonly status: number | null; readonly said: string } {
  const args = [join(ROOT, "test", "reference.mjs"), "--check", "--folder", folder];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 115_000 });
  return { status, said: `${stdout}${stderr}` };
}

// Three faults are put in, and no other may be found: so one look, which takes its time, tells that faults are found and that there are none.
test("the reference is what the code says, or else: npm run docs", () => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-reference-"));
  try {
    cpSync(REFERENCE, folder, { recursive: true });
    writeFileSync(join(folder, "dimensions.md"), "# Dimensions\n");
    rmSync(join(folder, "errors.md"));
    writeFileSync(join(folder, "bursar-gone.md"), "");

    const { status, said } = check(folder);

    const stale = [...said.matchAll(/([\w-]+\.md) is stale; run npm run docs/g)].map(([, name]) => name);
    expect({ status, stale: stale.sort(), said }).toMatchObject({
      status: 1,
      stale: ["bursar-gone.md", "dimensions.md", "errors.md"],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
