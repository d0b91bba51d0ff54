import type { BudgetId } from "../core/budget.js";
import { isWellFormed } from "../core/chain/bytes.js";
import type { JsonObject } from "../core/chain/canonical.js";
import type { Document } from "../core/document.js";
import { BursarError, InputError, show } from "../core/errors.js";
import { checkWait } from "../core/fields.js";
import type { Store } from "../ports/store.js";
import { digestOf, hashOf, isSameHash, readExpiry, Secrets } from "../runtime/secret.js";
import { noted, openServerChain } from "../runtime/server-chain.js";

/** A key of the gateway, without its secret, which nobody keeps. */
export interface GatewayKey {
  readonly id: string;
  readonly status: "active" | "revoked";
  /** What people call it. */
  readonly label: string;
  /** The budget that pays for what is asked with it. */
  readonly budget: BudgetId;
  readonly created: number;
  /** The instant from which it is no longer taken; null for never. */
  readonly expires: number | null;
  /** The instant until which the secret before the last rotation is still taken; null when it is not. */
  readonly rotating_until: number | null;
}

/** A key with its secret: shown once, when it is made. */
export interface NewKey {
  readonly key: GatewayKey;
  readonly secret: string;
}

export interface CreateKeyOptions {
  readonly budget: BudgetId;
  readonly label?: string;
  readonly expires?: Date | null;
  /** Who makes it, as the chain records it: `operator` unless it is said. */
  readonly by?: string;
}

/** There is no such key, or nothing can be done with it any more. */
export class KeyError extends BursarError {
  override readonly name: string = "KeyError";

  constructor(code: "no_such_key" | "key_revoked", message: string) {
    super(code, message);
  }
}

interface Kept {
  readonly label: string;
  readonly hash: string;
  readonly previous_hash: string | null;
  readonly created: number;
  readonly expires: number | null;
  readonly rotating_until: number | null;
}

/** A key as it is to be from now on. */
interface Written extends Pick<Document, "id" | "budget" | "version"> {
  readonly status: GatewayKey["status"];
  readonly kept: Kept;
}

const SECRETS = new Secrets("bursar");
const OPERATOR = "operator";
const LONGEST_LABEL = 200;
const DAY_MS = 86_400_000;
const LONGEST_GRACE_MS = 365 * DAY_MS;

/** What is done to a key, as the chain records it. */
type KeyAction = "KeyCreated" | "KeyRotated" | "KeyRevoked";

/**
 * The keys of a gateway. The store has hashes of their secrets alone; what is done to them is recorded in the server's chain, in the
 * same transaction.
 */
export class Keys {
  private readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  async create({ budget, label = "", expires = null, by = OPERATOR }: CreateKeyOptions): Promise<NewKey> {
    // Half of a surrogate pair has no place in a link.
    if (typeof label !== "string" || label.length > LONGEST_LABEL || !isWellFormed(label)) {
      throw new InputError("label", `is ${show(label)}; allowed: a text of up to ${LONGEST_LABEL} whole characters`);
    }
    const { instant: created } = this.store.clock.now();
    const until = readExpiry(expires, created);
    const found = await this.store.budget(budget);
    if (found === null || found.ended) {
      throw new InputError(
        "budget",
        `${show(budget)} ${found === null ? "is not there" : "has ended"}; open one first`,
      );
    }
    const { id, secret, hash } = SECRETS.make();
    const kept: Kept = { label, hash, previous_hash: null, created, expires: until, rotating_until: null };
    const written = { id, budget, status: "active", version: 0, kept } as const;
    return { key: await this.put(written, "KeyCreated", by), secret };
  }

  /** All keys, also those that were revoked, oldest first. */
  async list(): Promise<readonly GatewayKey[]> {
    const keys: GatewayKey[] = [];
    for await (const document of this.store.documents("key")) keys.push(shown(document));
    return keys.sort((a, b) => a.created - b.created);
  }

  /** Gives a key a new secret. The one before is taken for a while longer, so that clients can be changed one by one. */
  async rotate(
    id: string,
    { grace_ms = DAY_MS, by = OPERATOR }: { readonly grace_ms?: number; readonly by?: string } = {},
  ): Promise<NewKey> {
    checkWait(grace_ms, "grace_ms");
    const document = await this.active(id);
    const { secret, hash } = SECRETS.make(id);
    const before = keptIn(document);
    // What is no longer taken is not kept either.
    const graced = grace_ms > 0;
    const until = graced ? Math.round(this.store.clock.now().instant + Math.min(grace_ms, LONGEST_GRACE_MS)) : null;
    const kept = { ...before, hash, previous_hash: graced ? before.hash : null, rotating_until: until };
    const { budget, version } = document;
    return { key: await this.put({ id, budget, status: "active", version, kept }, "KeyRotated", by), secret };
  }

  /** From now on nothing is asked with it. */
  async revoke(id: string, by: string = OPERATOR): Promise<GatewayKey> {
    const document = await this.active(id);
    const { budget, version } = document;
    return this.put({ id, budget, status: "revoked", version, kept: keptIn(document) }, "KeyRevoked", by);
  }

  /** The key that a secret belongs to; null for all that is none. */
  async find(secret: string): Promise<GatewayKey | null> {
    const id = SECRETS.idIn(secret);
    const document = id === null ? null : await this.store.document("key", id);
    if (document === null || document.status !== "active") return null;
    const kept = keptIn(document);
    const { instant } = this.store.clock.now();
    if (kept.expires !== null && instant >= kept.expires) return null;
    const hash = hashOf(secret);
    if (isSameHash(hash, kept.hash)) return shown(document);
    const old =
      kept.previous_hash !== null && instant < (kept.rotating_until ?? 0) && isSameHash(hash, kept.previous_hash);
    return old ? shown(document) : null;
  }

  private async active(id: string): Promise<Document> {
    const document = await this.store.document("key", id);
    if (document === null) throw new KeyError("no_such_key", `there is no key ${show(id)}`);
    if (document.status !== "active") throw new KeyError("key_revoked", `key ${id} was revoked`);
    return document;
  }

  private async put({ kept, ...document }: Written, action: KeyAction, by: string): Promise<GatewayKey> {
    await openServerChain(this.store);
    const { id, budget } = document;
    const { label, hash, previous_hash, expires, rotating_until } = kept;
    const secret_digest = digestOf(hash, previous_hash);
    const [{ document: put }] = await this.store.apply([
      { op: "put", kind: "key", ...document, body: { ...kept } as JsonObject },
      noted(action, { key_id: id, by, budget, label, expires, rotating_until, secret_digest }),
    ]);
    return shown(put);
  }
}

function keptIn({ body }: Document): Kept {
  return body as unknown as Kept;
}

function shown(document: Document): GatewayKey {
  const { label, created, expires, rotating_until } = keptIn(document);
  const status = document.status as GatewayKey["status"];
  return { id: document.id, status, label, budget: document.budget ?? "", created, expires, rotating_until };
}
