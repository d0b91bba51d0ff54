import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** The page as it is shipped, built from the sources into a folder of its own. */
export async function buildPage(): Promise<{ readonly folder: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "bursar-page-"));
  const root = fileURLToPath(new URL("..", import.meta.url));
  const configFile = join(root, "vite.config.ts");
  await build({
    root,
    configFile,
    logLevel: "error",
    mode: "production",
    build: { outDir: folder, emptyOutDir: true },
  });
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
