import type { JsonObject } from "../core/chain/canonical.js";
import { claimedHash } from "../core/chain/line.js";
import { type Head, parseLine } from "../core/chain/link.js";
import { type Verification, type VerificationFailure, verifyChain } from "../core/chain/verify.js";
import { TENANT_CHAIN } from "../core/keep.js";
import type { Store } from "../ports/store.js";
import { sha256Hex } from "./crypto.js";

export interface VerifyStoredOptions {
  /** The last link, if it is known from elsewhere; else the one that the store has. */
  readonly head?: Head | undefined;
  /** Told of every link that was read, and of how many there are about. */
  readonly progress?: (done: number, total: number) => void;
}

/** The outcome, and how far the tenant's chain vouches for it: the position of the last link that it names, null where it names none. */
export type StoredVerification = (Extract<Verification, { ok: true }> | VerificationFailure) & {
  readonly anchored: number | null;
};

/**
 * Verifies a chain of a store against its head, and against every head of it that the store's own chain of anchors names: a chain that
 * was rewritten as a whole, or cut together with its head, is found by that.
 *
 * @example
 * ```ts
 * const { ok, anchored } = await verifyStored(store, "run-7");
 * ```
 */
export async function verifyStored(
  store: Store,
  chain: string,
  options: VerifyStoredOptions = {},
): Promise<StoredVerification> {
  const head = options.head ?? (await store.head(chain)) ?? undefined;
  const anchors = new Map<number, { readonly hash: string; readonly by: string }>();
  if (chain !== TENANT_CHAIN) {
    const tenant = await verifyChain(anchoring(store, chain, anchors), {
      hash: sha256Hex,
      head: (await store.head(TENANT_CHAIN)) ?? undefined,
    });
    if (!tenant.ok && tenant.reason !== "empty") {
      const message = `the chain ${TENANT_CHAIN}, which vouches for all others, does not verify: ${tenant.message}`;
      return { ...tenant, message, anchored: null };
    }
  }
  const anchored = anchors.size === 0 ? null : Math.max(...anchors.keys());
  let wrong: VerificationFailure | null = null;
  let done = 0;
  const lines = async function* () {
    for await (const line of store.chain(chain)) {
      const seq = done++;
      const anchor = anchors.get(seq);
      if (anchor !== undefined && anchor.hash !== claimedHash(line)) {
        wrong ??= failure(seq, `link ${seq}, which ${anchor.by} vouches for, is another one now`);
      }
      options.progress?.(done, (head?.seq ?? 0) + 1);
      yield line;
    }
  };
  const verified = await verifyChain(lines(), { hash: sha256Hex, head });
  if (!verified.ok) return { ...verified, anchored };
  for (const [seq, { by }] of anchors) {
    if (seq >= verified.links) wrong ??= failure(seq, `link ${seq}, which ${by} vouches for, is not there`);
  }
  return { ...(wrong ?? verified), anchored };
}

function failure(seq: number, message: string): VerificationFailure {
  return { ok: false, at: seq, seq, reason: "wrong_anchor", message };
}

/** The lines of the tenant's chain; what they say of the chain is noted on the way. */
async function* anchoring(
  store: Store,
  chain: string,
  anchors: Map<number, { readonly hash: string; readonly by: string }>,
): AsyncGenerator<string> {
  const name = `"chain":${JSON.stringify(chain)}`;
  for await (const line of store.chain(TENANT_CHAIN)) {
    // Most links do not speak of it, and need not be read for that.
    if (line.includes(name)) for (const { seq, hash, by } of headsIn(line, chain)) anchors.set(seq, { hash, by });
    yield line;
  }
}

function headsIn(line: string, chain: string): readonly { seq: number; hash: string; by: string }[] {
  try {
    const { id, action_type, data } = parseLine(line);
    if (action_type !== "ChainsAnchored" || !Array.isArray(data.heads)) return [];
    const heads = data.heads as readonly JsonObject[];
    return heads
      .filter((head) => head.chain === chain)
      .map(({ seq, hash }) => ({ seq: Number(seq), hash: String(hash), by: id }));
  } catch {
    return [];
  }
}
