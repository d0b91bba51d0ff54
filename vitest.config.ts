import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import { configDefaults, defineConfig, type Plugin, type TestProjectConfiguration } from "vitest/config";

/** What kills processes and servers, or plays whole programs, takes long; `npm run test:long` is for it. */
const LONG = [
  "test/runs/{again,elsewhere,kill,other-sandbox,points,workers}.test.ts",
  "test/{examples-estimates,examples-run,docs-cookbook,packed}.test.ts",
  "packages/bursar/test/stores/{crash,crash-postgres,concurrency,full-postgres,power}.test.ts",
  "packages/bursar/test/models/batch/{crash,kill,runs-crash}.test.ts",
  "packages/bursar/test/models/{reservations,reuse}/callers.test.ts",
  "packages/bursar/test/models/tiers/crowd.test.ts",
  "packages/bursar/test/models/{everything,everything-killed}.test.ts",
  "packages/bursar/test/models/register/{descendants,register,sharing,side-doors,signals}.test.ts",
  "packages/bursar/test/foresight/engines.test.ts",
  "packages/sandbox/test/sessions/{packages,packages-analysis}.test.ts",
  // Each command is a process of its own.
  "apps/cli/test/{announcing,chain,completion,config,demo-run,exec,estimate,foresight-run,gateway,holds,keys,packages,quiet}.test.ts",
  "apps/cli/test/{runs,runs-programs,runs-restore,runs-worker,serve,store}.test.ts",
  "apps/cli/test/mcp/{code,stdio}.test.ts",
];
/** In a real browser, or a real terminal: they take longest. */
const SEEN = [
  "apps/cli/test/{exec-dialogue,faces,tui-terminal}.test.ts",
  "apps/web/test/{access,accessibility,approving,browser,chain,connection,foresight,overview,processes,run-page,start}.test.ts",
];
const isLong = process.env.npm_lifecycle_event === "test:long";
/** Whoever names tests gets what he names. */
const isNamed = process.argv.slice(2).some((word) => !word.startsWith("-") && word !== "run");

function projectOf(name: string, include: readonly string[]): TestProjectConfiguration {
  return { extends: true, test: { name, include: [...include] } };
}

/**
 * Tests run what is shipped: an import of `src` leads to the compiled file in `dist`, which is also what the names of the packages lead to.
 * So there is one copy of each module, and threads find their files.
 */
function compiledSources(): Plugin {
  return {
    name: "compiled-sources",
    enforce: "pre",
    async resolveId(source, importer) {
      if (importer === undefined || !source.startsWith(".")) return null;
      const path = resolve(dirname(importer), source);
      const [, folder, file] = /^(.*\/(?:packages\/[^/]+|apps\/cli))\/src\/(.*)\.js$/.exec(path) ?? [];
      return folder === undefined ? null : { id: `${folder}/dist/${file}.js`, external: true };
    },
  };
}

export default defineConfig({
  plugins: [compiledSources()],
  test: {
    // The projects of the long ones add to what stands here.
    include: isLong ? [] : ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: isLong || isNamed ? configDefaults.exclude : [...configDefaults.exclude, ...LONG, ...SEEN],
    ...(isLong && { projects: [projectOf("long", LONG), projectOf("seen", SEEN)] }),
    // Sessions and the command line are tested as they are shipped: bundled out of what was compiled last.
    globalSetup: [
      "packages/sandbox/bundle.mjs",
      "apps/cli/bundle.mjs",
      ...(isLong || isNamed ? ["apps/web/test/unpack-browser.ts"] : []),
    ],
    server: { deps: { external: [/\/(?:packages|apps)\/[^/]+\/dist\//] } },
    // Guests that were built on this machine are for `npm run test:guest`.
    env: { BURSAR_GUEST: process.env.BURSAR_GUEST ?? "npm" },
    // One more than there are processors: many tests wait, for disks, for servers and for processes that they have killed.
    maxWorkers: availableParallelism() + 1,
    // Property tests explore many histories; a slow machine must not fail them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
