// Puts what runs in the sandbox's process and in its threads into one file each: loading a hundred modules takes longer than
// most programs run. To be run after `tsc -b`; the tests do so by themselves.
import { cp, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** The pages that the guidance refers to, as `docs/<page>`: they are packed with the package. */
const PAGES = ["PYTHON_CAPABILITIES.md", "JAVASCRIPT_CAPABILITIES.md", "MCP_INTEGRATION.md"];

const dist = fileURLToPath(new URL("./dist/", import.meta.url));

export async function setup() {
  const docs = new URL("./docs/", import.meta.url);
  await mkdir(docs, { recursive: true });
  for (const page of PAGES) await cp(new URL(`../../docs/${page}`, import.meta.url), new URL(page, docs));
  for (const name of ["broker", "worker"]) {
    const made = await rolldown({ input: `${dist}sessions/${name}.js`, platform: "node", external: [/^node:/] });
    await made.write({ file: `${dist}bundle/${name}.js`, format: "esm", codeSplitting: false });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setup();
