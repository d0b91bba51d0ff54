// Puts what runs in the sandbox's process and in its threads into one file each: loading a hundred modules takes longer than
// most programs run. To be run after `tsc -b`; the tests do so by themselves.
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const dist = fileURLToPath(new URL("./dist/", import.meta.url));

export async function setup() {
  for (const name of ["broker", "worker"]) {
    const made = await rolldown({ input: `${dist}sessions/${name}.js`, platform: "node", external: [/^node:/] });
    await made.write({ file: `${dist}bundle/${name}.js`, format: "esm", codeSplitting: false });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setup();
