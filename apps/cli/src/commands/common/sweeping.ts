import type { SampledDefect } from "bursar";
import type { Configuration } from "bursar/config";
import type { Place } from "../../app/store/opened-store.js";
import * as store from "../../app/store/sweeping.js";
import type { Given } from "../../arguments/run-flags.js";
import { harmless } from "../../render/style.js";
import { storeUrl } from "./place.js";

/** Starts the sweeper of a command that serves or works; where budgets and chains differ, standard error says so. */
export function openSweeping(place: Place, flags: Given, config: Configuration): Promise<store.Sweeping> {
  return store.openSweeping(place.store, storeUrl(flags, config) ?? process.env.BURSAR_STORE, warnOfDefect);
}

/** Says on standard error where a budget differs from its chain. */
export function warnOfDefect({ where, problem }: SampledDefect): void {
  const text = harmless(`${where}: ${problem}`);
  process.stderr.write(`bursar: the store differs from its chains: ${text}; run \`bursar store check\`\n`);
}
