import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

/** What kills processes and servers, or plays whole programs, takes long; `npm run test:long` is for it. */
const LONG = [
  "test/runs/{again,elsewhere,kill,points,workers}.test.ts",
  "test/{examples-run,docs-cookbook}.test.ts",
  "packages/bursar/test/stores/{crash,crash-postgres,concurrency}.test.ts",
  "packages/bursar/test/models/batch/{crash,kill,runs-crash}.test.ts",
  "packages/bursar/test/models/{reservations,reuse}/callers.test.ts",
  "packages/bursar/test/models/tiers/crowd.test.ts",
  "packages/bursar/test/models/everything.test.ts",
  "packages/bursar/test/foresight/engines.test.ts",
  "packages/sandbox/test/sessions/packages-analysis.test.ts",
  "apps/cli/test/{demo-run,exec,estimate,foresight-run,packages,runs,runs-programs,runs-worker,store,tui-terminal}.test.ts",
  "apps/cli/test/mcp/stdio.test.ts",
  // In a real browser.
  "apps/web/test/{access,accessibility,approving,browser,chain,connection,foresight,processes,run-page}.test.ts",
];
const isLong = process.env.npm_lifecycle_event === "test:long";
/** Whoever names tests gets what he names. */
const isNamed = process.argv.slice(2).some((word) => !word.startsWith("-") && word !== "run");

export default defineConfig({
  test: {
    include: isLong ? LONG : ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: isLong || isNamed ? configDefaults.exclude : [...configDefaults.exclude, ...LONG],
    // Sessions are tested as they are shipped, and what is shipped is made from what was compiled last.
    globalSetup: ["packages/sandbox/bundle.mjs"],
    // Guests that were built on this machine are for `npm run test:guest`.
    env: { BURSAR_GUEST: process.env.BURSAR_GUEST ?? "npm" },
    // One more than there are processors: many tests wait, for disks, for servers and for processes that they have killed.
    maxWorkers: availableParallelism() + 1,
    // Property tests explore many histories; a slow machine must not fail them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
