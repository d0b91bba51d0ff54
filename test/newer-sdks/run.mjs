// Runs the tests of the adapters with the newest majors of the SDKs, which need Node 22: they live in this folder, because what is
// installed beside the other tests has to run under Node 20.
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { install, node22, root, run } from "../installed.mjs";
import { here, isReplaced } from "./packages.mjs";

const TESTS = [
  "packages/bursar/test/models/{ai,fetch,openai-agents}/**/*.test.ts",
  "packages/bursar/test/models/{together,otel/observe,register/{register,side-doors},tiers/adapters}.test.ts",
  "test/newer-sdks/{mastra,replaced}.mjs",
];

/** Gives the tests themselves the newest majors, by the same entries as Node would. */
const resolver = {
  name: "newer-sdks",
  enforce: "pre",
  resolveId(specifier, importer) {
    const own = join(here, "packages.mjs");
    return isReplaced(specifier, importer) ? this.resolve(specifier, own, { skipSelf: true }) : null;
  },
};

async function test() {
  const { startVitest } = await import("vitest/node");
  // The programs that tests start are not resolved by Vite.
  const hook = `--import ${pathToFileURL(join(here, "resolve.mjs")).href}`;
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} ${hook}`.trim();
  const options = { run: true, config: false, root, include: TESTS, testTimeout: 120_000 };
  const vitest = await startVitest("test", process.argv.slice(2), options, { plugins: [resolver] });
  await vitest.close();
}

if (Number.parseInt(process.versions.node, 10) < 22) {
  run(node22(), [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
} else {
  install(here, "the newest majors of the SDKs (about 230 MB)");
  // One adapter is written against the types of its SDK.
  run(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "--project", here]);
  await test();
}
