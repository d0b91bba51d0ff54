import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { CACHE } from "../python/parts.js";

/** Folders of a test's own, beside the cache that all of them share. */
export function testPlaces(name: string): {
  readonly folder: string;
  readonly places: { readonly cacheFolder: string; readonly packagesFolder: string; readonly keyFile: string };
} {
  const folder = mkdtempSync(join(tmpdir(), `bursar-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true }));
  return {
    folder,
    places: { cacheFolder: CACHE, packagesFolder: join(folder, "packages"), keyFile: join(folder, "key") },
  };
}
