import type { BudgetId } from "../core/budget.js";
import type { JsonObject } from "../core/chain/canonical.js";
import { writeAmount } from "../core/dimension.js";
import { StaleError } from "../core/document.js";
import { InputError, show } from "../core/errors.js";
import type { Store } from "../ports/store.js";
import type { ApprovalRequest } from "./approval.js";
import { digestOf } from "./journal.js";
import { describeRequest, joinRequest } from "./open-request.js";

const DAY_MS = 86_400_000;

/** What is exhausted, and what wanted more of it. */
export interface ExtensionWish {
  readonly budget: BudgetId;
  readonly dimension: string;
  readonly action: JsonObject;
  /** How much of it was wanted, in ledger units, which is then suggested at least. */
  readonly asked?: number;
}

/**
 * Asks a person to extend a budget that no run stands still for, such as that of a key of the gateway. As long as nobody has
 * answered, asking again is the same request, whoever asks and from wherever; runs that wait for the same wait for it too.
 */
export async function requestExtension(
  store: Store,
  { budget, dimension, action, asked = 0 }: ExtensionWish,
  { expires_ms = DAY_MS }: { readonly expires_ms?: number } = {},
): Promise<ApprovalRequest> {
  if (!store.dimensions.has(dimension)) {
    const known = store.dimensions.all.map(({ id }) => id).join(", ");
    throw new InputError("dimension", `is ${show(dimension)}; allowed: ${known}`);
  }
  const digest = digestOf("budget_extension", { budget, dimension });
  const amount = writeAmount(store.dimensions.get(dimension), asked);
  const amounts = { smallest: amount, largest: amount, together: amount };
  const waiting = { run: null, checkpoint_id: null, name: "llm", digest, calls: 1, ...amounts };
  for (;;) {
    const question = { budget, dimension, waiting, action, expires_ms };
    const { request, isNew, operations } = await joinRequest(store, question);
    if (operations.length === 0) return request;
    const data = describeRequest(request);
    const links = isNew
      ? ([{ op: "record", budget, action: { action_type: "ApprovalRequested", data } }] as const)
      : ([] as const);
    try {
      await store.apply([...operations, ...links]);
      return { ...request, version: request.version + 1 };
    } catch (error) {
      // Somebody has asked for the same, or has answered, at the same moment.
      if (!(error instanceof StaleError)) throw error;
    }
  }
}
