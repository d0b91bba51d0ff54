import { type SampledDefect, type Store, type StoreChecks, Sweeper } from "bursar";
import { openHousekeeping } from "bursar/store";

/** A sweeper that also compares budgets with their chains, and reports where they differ. */
export interface Sweeping extends AsyncDisposable {
  checks(): StoreChecks;
}

export async function openSweeping(
  store: Store,
  /** The URL of the store; undefined for the user's own. */
  url: string | undefined,
  differs: (defect: SampledDefect) => void,
): Promise<Sweeping> {
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
