import type { Purse } from "../../runtime/purse.js";

/** Whose call it is that is paid for from a purse: that of the root of its budget's path. */
export async function tenantOf({ store, budget }: Pick<Purse, "store" | "budget">): Promise<string> {
  return (await store.path(budget)).at(-1)?.id ?? budget;
}
