import type { BudgetId } from "../core/budget.js";
import type { JsonObject } from "../core/chain/canonical.js";
import { StaleError } from "../core/document.js";
import { InputError, show } from "../core/errors.js";
import { Events } from "../core/events.js";
import { heldIn } from "../core/held.js";
import { suggestExtension } from "../core/suggestion.js";
import type { Store } from "../ports/store.js";
import { type ApprovalRequest, putApproval, readApproval } from "./approval.js";
import { RunError } from "./error.js";
import { digestOf } from "./journal.js";

const DAY_MS = 86_400_000;
/** Nobody is asked more often about one dimension of one budget: by then it has been extended a thousand times. */
const MOST_REQUESTS = 1000;

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
 * answered, asking again is the same request, whoever asks and from wherever.
 */
export async function requestExtension(
  store: Store,
  wish: ExtensionWish,
  { expires_ms = DAY_MS }: { readonly expires_ms?: number } = {},
): Promise<ApprovalRequest> {
  const { budget, dimension } = wish;
  if (!store.dimensions.has(dimension)) {
    const known = store.dimensions.all.map(({ id }) => id).join(", ");
    throw new InputError("dimension", `is ${show(dimension)}; allowed: ${known}`);
  }
  const digest = digestOf("budget_extension", { budget, dimension });
  for (let number = 1; number <= MOST_REQUESTS; number++) {
    // The name follows from what is asked for, so that two who ask at the same moment ask the same.
    const id = `${digest.slice(0, 16)}-${number}`;
    const document = await store.document("approval", id);
    if (document === null) {
      const request = await ask(store, wish, id, digest, expires_ms);
      if (request !== null) return request;
      number--;
      continue;
    }
    const request = readApproval(document);
    if (request.status !== "pending") continue;
    if (request.expires > store.clock.now().instant) return request;
    await store.apply([putApproval({ ...request, status: "expired" })]).catch(() => {});
  }
  const asked = `${dimension} of budget ${budget} was asked for ${MOST_REQUESTS} times`;
  throw new RunError("too_many_requests", `${asked}; extend it unasked, or open another budget`);
}

/** Null when somebody else has asked at the same moment. */
async function ask(
  store: Store,
  { budget: id, dimension, action, asked = 0 }: ExtensionWish,
  name: string,
  digest: string,
  expires_ms: number,
): Promise<ApprovalRequest | null> {
  const time = store.clock.now();
  const budget = await store.budget(id);
  const events = new Events(store.dimensions);
  const request: ApprovalRequest = {
    ...{ id: name, status: "pending", kind: "budget_extension", run: null, checkpoint_id: null },
    ...{ about: `${id} ${dimension}`, budget: id, exhausted_dimension: dimension },
    consumed: budget === null ? {} : events.consumed(budget, time),
    held: budget === null ? {} : heldIn(budget, store.dimensions),
    limits: budget === null ? {} : events.limits(budget),
    suggested_extension: suggestExtension(await store.path(id), { dimension, asked }, store.dimensions, time),
    ...{ action, digest, requested: time.instant, expires: time.instant + expires_ms },
    ...{ decision: null, consumed_by: null, version: 0 },
  };
  const { consumed, held, limits, suggested_extension, expires } = request;
  const data = { approval_id: name, kind: request.kind, exhausted_dimension: dimension, digest, expires };
  const recorded = { action_type: "ApprovalRequested", data: { ...data, consumed, held, limits, suggested_extension } };
  try {
    await store.apply([putApproval(request), { op: "record", budget: id, action: recorded }]);
    return { ...request, version: 1 };
  } catch (error) {
    if (error instanceof StaleError) return null;
    throw error;
  }
}
