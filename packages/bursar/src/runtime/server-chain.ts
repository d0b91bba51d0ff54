import type { JsonObject } from "../core/chain/canonical.js";
import type { Operation } from "../core/operation.js";
import type { Store } from "../ports/store.js";

/** The chain that records what happens to a server or a gateway and to no run: tokens, keys, logins. */
export const SERVER_CHAIN = "bursar:server";

/** Makes sure that there is such a chain. It belongs to a budget without limits, as every chain belongs to one. */
export async function openServerChain(store: Store): Promise<void> {
  if ((await store.budget(SERVER_CHAIN)) !== null) return;
  const opening = { id: SERVER_CHAIN, scope: "shared", grant: { kind: "limits", limits: {} } } as const;
  await store.apply([{ op: "open", parent: null, opening }]).catch(async (error: unknown) => {
    // Somebody else may have been faster.
    if ((await store.budget(SERVER_CHAIN)) === null) throw error;
  });
}

/** Leaves word of something in the server's chain. */
export function noted(action_type: string, data: JsonObject): Operation {
  return { op: "record", budget: SERVER_CHAIN, action: { action_type, data } };
}
