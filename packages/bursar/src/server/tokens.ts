import type { JsonObject } from "../core/chain/canonical.js";
import type { Document } from "../core/document.js";
import { BursarError, InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import type { Store } from "../ports/store.js";
import type { Principal } from "../runs/principal.js";
import { digestOf, hashOf, isSameHash, readExpiry, Secrets } from "../runtime/secret.js";
import { noted, openServerChain } from "../runtime/server-chain.js";

export type Role = Principal["role"];

export const ROLES: readonly Role[] = ["viewer", "agent", "operator", "admin"];

/** What a client of the server shows, without its secret, which nobody keeps. */
export interface Token {
  readonly id: string;
  readonly status: "active" | "revoked";
  /** Who shows it; what he does is recorded under this name. */
  readonly name: string;
  readonly role: Role;
  readonly created: number;
  /** The instant from which it is no longer taken; null for never. */
  readonly expires: number | null;
}

/** A token with its secret: shown once, when it is made. */
export interface NewToken {
  readonly token: Token;
  readonly secret: string;
}

export interface CreateTokenOptions {
  readonly name: string;
  readonly role: Role;
  readonly expires?: Date | null;
  /** Who makes it, as the chain records it: `operator` unless it is said. */
  readonly by?: string;
}

/** There is no such token, or nothing can be done with it any more. */
export class TokenError extends BursarError {
  override readonly name: string = "TokenError";

  constructor(code: "no_such_token" | "token_revoked" | "name_taken" | "too_many_tokens", message: string) {
    super(code, message);
  }
}

interface Kept {
  readonly name: string;
  readonly role: Role;
  readonly hash: string;
  readonly created: number;
  readonly expires: number | null;
}

const SECRETS = new Secrets("bursar_token");
/** Names stand in chains and on screens, and in headers of nobody. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,99}$/u;
const MOST_TOKENS = 1000;
const OPERATOR = "operator";

/**
 * The tokens of a server: who may use it, and as what. The store has hashes of their secrets alone; what is done to them is
 * recorded in the server's chain, in the same transaction.
 *
 * @example
 * ```ts
 * const { secret } = await new Tokens(store).create({ name: "ann", role: "operator" });
 * ```
 */
export class Tokens {
  private readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  async create(options: CreateTokenOptions): Promise<NewToken> {
    checkKeys(options, "token", ["name", "role", "expires", "by"]);
    const { name, role, expires = null, by = OPERATOR } = options;
    if (typeof name !== "string" || !NAME.test(name)) {
      throw new InputError("name", `is ${show(name)}; allowed: up to 100 letters, digits, spaces and . _ @ + -`);
    }
    if (!ROLES.includes(role)) throw new InputError("role", `is ${show(role)}; allowed: ${ROLES.join(", ")}`);
    const { instant: created } = this.store.clock.now();
    const until = readExpiry(expires, created);
    await this.checkRoom(name, created);
    const { id, secret, hash } = SECRETS.make();
    const kept: Kept = { name, role, hash, created, expires: until };
    return { token: await this.put(id, "active", kept, 0, "TokenCreated", by), secret };
  }

  /** All tokens, also those that were revoked, oldest first. */
  async list(): Promise<readonly Token[]> {
    const tokens: Token[] = [];
    for await (const document of this.store.documents("token")) tokens.push(shown(document));
    return tokens.sort((a, b) => a.created - b.created);
  }

  /** From now on nothing is done with it. */
  async revoke(id: string, by: string = OPERATOR): Promise<Token> {
    const document = await this.store.document("token", id);
    if (document === null) throw new TokenError("no_such_token", `there is no token ${show(id)}`);
    if (document.status !== "active") throw new TokenError("token_revoked", `token ${id} was revoked`);
    return this.put(id, "revoked", keptIn(document), document.version, "TokenRevoked", by);
  }

  /** The token that a secret belongs to; null for all that is none, or is no longer taken. */
  async find(secret: string): Promise<Token | null> {
    const id = SECRETS.idIn(secret);
    const document = id === null ? null : await this.store.document("token", id);
    if (document === null || !isSameHash(hashOf(secret), keptIn(document).hash)) return null;
    return this.taken(document);
  }

  /** The token of this id, if it is still taken. */
  async valid(id: string): Promise<Token | null> {
    const document = await this.store.document("token", id);
    return document === null ? null : this.taken(document);
  }

  /** Whether there is one that is taken, of one of these roles. */
  async has(roles: readonly Role[] = ROLES): Promise<boolean> {
    for await (const document of this.store.documents("token", "active")) {
      if (this.taken(document) !== null && roles.includes(keptIn(document).role)) return true;
    }
    return false;
  }

  private taken(document: Document): Token | null {
    const { expires } = keptIn(document);
    const expired = expires !== null && this.store.clock.now().instant >= expires;
    return document.status !== "active" || expired ? null : shown(document);
  }

  /** Two people of one name could not be told apart in the chain. */
  private async checkRoom(name: string, now: number): Promise<void> {
    let count = 0;
    for await (const document of this.store.documents("token", "active")) {
      const { name: taken, expires } = keptIn(document);
      if (taken === name && (expires === null || now < expires)) {
        throw new TokenError("name_taken", `${show(name)} has a token already; revoke it first, or take another name`);
      }
      if (++count >= MOST_TOKENS) throw new TokenError("too_many_tokens", `there are ${count} tokens; revoke some`);
    }
  }

  private async put(
    id: string,
    status: Token["status"],
    kept: Kept,
    version: number,
    action: string,
    by: string,
  ): Promise<Token> {
    await openServerChain(this.store);
    const { hash, ...said } = kept;
    const body = { ...kept } as JsonObject;
    const [{ document }] = await this.store.apply([
      { op: "put", kind: "token", id, budget: null, status, body, version },
      noted(action, { token_id: id, by, ...said, secret_digest: digestOf(hash) }),
    ]);
    return shown(document);
  }
}

/** Whether it is meant to be a token of a server's, right or wrong. */
export function isToken(secret: string): boolean {
  return secret.startsWith("bursar_token_");
}

function keptIn({ body }: Document): Kept {
  return body as unknown as Kept;
}

function shown(document: Document): Token {
  const { name, role, created, expires } = keptIn(document);
  return { id: document.id, status: document.status as Token["status"], name, role, created, expires };
}
