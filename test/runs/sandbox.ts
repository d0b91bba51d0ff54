import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { afterAll } from "vitest";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/bursar-sandbox-tests", import.meta.url));

/** Who may decide over runs. */
export const ANN = { name: "ann", role: "operator" } as const;

/** A sandbox that ends with the tests of a file, beside the cache that all of them share. */
export async function openTestSandbox(): Promise<Sandbox> {
  const sandbox = await openSandbox({ cacheFolder: CACHE, workers: 2 });
  afterAll(() => sandbox[Symbol.asyncDispose]());
  return sandbox;
}
