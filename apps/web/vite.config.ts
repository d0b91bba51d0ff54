import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { licenseSection, packageFolders } from "../licenses.mjs";

/** The folders of the packages that are bundled into workers. */
const workerPackages = new Set<string>();

export default defineConfig({
  root: import.meta.dirname,
  plugins: [workerLicenses(), compressed()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: ["chrome123", "firefox128", "safari17.5"],
    // The server's content security policy knows no data: addresses, and every file has a name of its own to be cached by.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What others have written is in it, and their licences have to come with every copy.
    license: { fileName: "licenses.txt" },
  },
  worker: { format: "es", plugins: () => [workerModules()] },
  server: { proxy: { "/api": "http://127.0.0.1:8787" } },
});

/** Notes which packages a worker bundles: Vite's own list of licences leaves workers out. */
function workerModules(): Plugin {
  return {
    name: "worker-modules",
    generateBundle(_, bundle) {
      const ids = Object.values(bundle).flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
      for (const folder of packageFolders(ids)) workerPackages.add(folder);
    },
  };
}

/** Adds the licences of packages that only workers bundle. */
function workerLicenses(): Plugin {
  return {
    name: "worker-licenses",
    apply: "build",
    writeBundle({ dir = "dist" }) {
      const file = join(dir, "licenses.txt");
      const listed = readFileSync(file, "utf8");
      for (const folder of workerPackages) {
        const { name, section } = licenseSection(folder);
        if (!listed.includes(`## ${name} - `)) appendFileSync(file, `\n${section}`);
      }
    },
  };
}

/** Writes each file in its compressed forms too, so that the server need not compress anything. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    writeBundle({ dir = "dist" }) {
      const names = readdirSync(dir, { recursive: true, encoding: "utf8" });
      for (const name of names.filter((each) => /\.(?:js|css|html|svg|txt)$/.test(each))) {
        const bytes = readFileSync(join(dir, name));
        writeFileSync(join(dir, `${name}.gz`), gzipSync(bytes, { level: 9 }));
        writeFileSync(join(dir, `${name}.br`), brotliCompressSync(bytes));
      }
    },
  };
}
