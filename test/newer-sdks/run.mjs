// Runs the tests of the adapters with the newest majors of the SDKs, which need Node 22: they live in this folder, because what is
// installed beside the other tests has to run under Node 20.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (error !== undefined || status !== 0) {
    console.error(`${command} ${args.join(" ")} failed${error === undefined ? "" : `: ${error.message}`}`);
    process.exit(status ?? 1);
  }
}

/** The packages that the same tests get in place of the ones beside them. */
const NEWER = ["@ai-sdk/anthropic", "@ai-sdk/openai", "ai", "openai"];

const TESTS = [
  "packages/bursar/test/models/ai/**/*.test.ts",
  "packages/bursar/test/models/fetch/**/*.test.ts",
  "test/newer-sdks/mastra.mjs",
];

async function test() {
  const { startVitest } = await import("vitest/node");
  const alias = NEWER.map((name) => ({
    find: new RegExp(`^${name}(?=/|$)`),
    replacement: join(here, "node_modules", name),
  }));
  const options = { run: true, config: false, root, include: TESTS, testTimeout: 120_000 };
  const vitest = await startVitest("test", process.argv.slice(2), options, { resolve: { alias } });
  await vitest.close();
}

if (!existsSync(join(here, "node_modules"))) run("npm", ["ci", "--prefix", here]);
if (Number.parseInt(process.versions.node, 10) >= 22) await test();
else {
  const node = join(root, "node_modules", ".cache", "node22", "node_modules", "node", "bin", "node");
  if (!existsSync(node)) {
    console.error("this needs Node 22; `npm run test:node22` installs one beside the other");
    process.exit(1);
  }
  run(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
}
