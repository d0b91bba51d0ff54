import { type SampledDefect, type StoreChecks, Sweeper } from "bursar";
import type { Configuration } from "bursar/config";
import { openHousekeeping } from "bursar/store";
import { harmless } from "../render/style.js";
import type { Given } from "./flags.js";
import { type Place, storeUrl } from "./place.js";

/** A sweeper that also compares budgets with their chains, and says on stderr where they differ. */
export interface Sweeping extends AsyncDisposable {
  checks(): StoreChecks;
}

export async function openSweeping(
  place: Place,
  flags: Given,
  config: Configuration,
  tell: (line: string) => void = tellOnStderr,
): Promise<Sweeping> {
  const { store } = place;
  const url = storeUrl(flags, config) ?? process.env.BURSAR_STORE;
  const differs = ({ where, problem }: SampledDefect) =>
    tell(`bursar: the store differs from its chains: ${harmless(`${where}: ${problem}`)}; run \`bursar store check\``);
  // A store in memory can be changed by its own process alone.
  const housekeeping = /^memory:/i.test(url ?? "") ? null : openHousekeeping(url, { dimensions: store.dimensions });
  const check = housekeeping === null ? undefined : await housekeeping.sample();
  const sweeper = new Sweeper({ store, differs, ...(check !== undefined && { check }) });
  sweeper.start();
  return {
    checks: () => sweeper.checks,
    async [Symbol.asyncDispose]() {
      await sweeper.close();
      await housekeeping?.[Symbol.asyncDispose]();
    },
  };
}

function tellOnStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
