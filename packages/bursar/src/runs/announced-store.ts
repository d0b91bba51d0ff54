import type { Operation } from "../core/operation.js";
import type { Store } from "../ports/store.js";
import { ToldStore } from "../runtime/told-store.js";
import { readApproval } from "./approval.js";
import type { Webhook } from "./webhook.js";

/**
 * A store that announces requests for approval and decisions, whoever writes them through it: runs, gateways, servers, MCP. The write
 * that makes a request succeeds in one process only, so each request is announced once, however many processes share the store.
 */
export class AnnouncedStore extends ToldStore {
  private readonly webhook: Webhook;

  /** The same store where it announces there already. */
  static over(store: Store, webhook: Webhook): Store {
    const isThere = AnnouncedStore.layers(store).some(
      (layer) => layer instanceof AnnouncedStore && layer.webhook === webhook,
    );
    return isThere ? store : new AnnouncedStore(store, webhook);
  }

  private constructor(store: Store, webhook: Webhook) {
    super(store, ({ operations }) => announce(operations, webhook));
    this.webhook = webhook;
  }
}

function announce(operations: readonly Operation[], webhook: Webhook): void {
  for (const operation of operations) {
    if (operation.op !== "put" || operation.kind !== "approval") continue;
    const request = readApproval({ ...operation, version: operation.version + 1 });
    const { status, decision, consumed_by } = request;
    if (operation.version === 0 && status === "pending") void webhook.tell("approval.requested", request);
    // A yes is written once more when it is used up.
    else if (decision !== null && consumed_by === null) void webhook.tell("approval.decided", request);
  }
}
