// Puts the command line into a few files: loading some hundred modules takes longer than most commands run. To be run after `tsc -b`;
// the tests do so by themselves.
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { licenseSection, packageFolders } from "../licenses.mjs";

const here = fileURLToPath(new URL("./", import.meta.url));
const packages = fileURLToPath(new URL("../../packages/", import.meta.url));
const bundle = join(here, "dist/bundle");

/** Bundles what was compiled last; nothing is done where nothing was compiled since. */
export async function setup() {
  if (isUpToDate()) return;
  const built = await rolldown({
    input: { main: `${here}dist/main.js`, "sqlite-writer": `${packages}bursar/dist/stores/sqlite/worker.js` },
    platform: "node",
    // Binaries, what is optional, and the recipe that finds its sources beside itself.
    external: [
      /^node:/,
      "@photostructure/sqlite",
      "react-devtools-core",
      /^gpt-tokenizer\b/,
      "@bursar/sandbox/guest-build",
    ],
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [keepPlaces(), collectLicenses()],
    // `keepPlaces` replaces text within lines, so the lines of its maps are right.
    onLog: (level, log, handle) => log.code === "SOURCEMAP_BROKEN" || handle(level, log),
  });
  const fresh = `${bundle}-${process.pid}`;
  await built.write({ dir: fresh, format: "esm", sourcemap: true, keepNames: true, chunkFileNames: "[name].js" });
  rmSync(bundle, { recursive: true, force: true });
  renameSync(fresh, bundle);
}

function isUpToDate() {
  const main = join(bundle, "main.js");
  if (!existsSync(main)) return false;
  const folders = [here, ...readdirSync(packages).map((name) => join(packages, name))];
  const sources = [fileURLToPath(import.meta.url), ...folders.map((folder) => join(folder, "dist/.tsbuildinfo"))];
  const made = statSync(main).mtimeMs;
  return sources.every((file) => (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) < made);
}

/** Lets bundled modules find the files that stand beside them in their own package. */
function keepPlaces() {
  return {
    name: "keep-places",
    transform(code, id) {
      if (!id.startsWith(packages) || !code.includes("import.meta.url")) return null;
      if (id.endsWith("/bursar/dist/stores/sqlite/thread.js")) {
        return code.replace(
          'new URL("./worker.js", import.meta.url)',
          'new URL("./sqlite-writer.js", import.meta.url)',
        );
      }
      const [, file] = /\/sandbox\/(dist\/.*)$/.exec(id) ?? [];
      if (file === undefined) return null;
      const place = `new URL("./${file}", import.meta.resolve("@bursar/sandbox/package.json")).href`;
      return code.replaceAll("import.meta.url", place);
    },
  };
}

function collectLicenses() {
  return {
    name: "collect-licenses",
    generateBundle(_, chunks) {
      const ids = Object.values(chunks).flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
      const sections = packageFolders(ids).map((folder) => licenseSection(folder).section);
      const source = `# Licences\n\nThe command line bundles these packages:\n\n${sections.join("\n")}`;
      this.emitFile({ type: "asset", fileName: "licenses.txt", source });
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setup();
