import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "test/**/*.test.ts"],
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
