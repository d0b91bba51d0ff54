import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // Property tests explore many histories; a slow machine must not fail them.
    testTimeout: 120_000,
  },
});
