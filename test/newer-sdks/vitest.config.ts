import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const NEWER = ["@ai-sdk/anthropic", "@ai-sdk/openai", "@mastra/core", "ai", "openai"];

/** The tests of the adapters as they are, with the packages of this folder in place of the ones beside the other tests. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: [
      "packages/bursar/test/models/ai/**/*.test.ts",
      "packages/bursar/test/models/fetch/**/*.test.ts",
      "test/newer-sdks/*.test.ts",
    ],
  },
  resolve: {
    alias: NEWER.map((name) => ({
      find: new RegExp(`^${name}(?=/|$)`),
      replacement: fileURLToPath(new URL(`node_modules/${name}`, import.meta.url)),
    })),
  },
});
