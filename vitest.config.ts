import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

/** What kills processes, servers and machines takes long; `npm run test:crash` names it, and whoever names tests gets them. */
const CRASHING = [
  "test/runs/{again,elsewhere,kill,points,workers}.test.ts",
  "packages/bursar/test/stores/crash*.test.ts",
];
const isNamed = process.argv.slice(2).some((word) => !word.startsWith("-") && word !== "run");

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: isNamed ? configDefaults.exclude : [...configDefaults.exclude, ...CRASHING],
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
