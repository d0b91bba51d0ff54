import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { InputError, show } from "../core/errors.js";

/** A secret as it is shown once, and what is kept of it. */
export interface NewSecret {
  readonly id: string;
  readonly secret: string;
  readonly hash: string;
}

/**
 * Secrets that name something and prove that whoever shows them may use it. Only their SHA-256 is kept: a secret is 256 bits of
 * chance, so nothing slower is needed to keep it from being guessed.
 */
export class Secrets {
  private readonly prefix: string;
  private readonly form: RegExp;

  /** The prefix tells scanners for leaked secrets, and people, what it is. After it comes the id, and then what proves it. */
  constructor(prefix: string) {
    this.prefix = prefix;
    this.form = new RegExp(`^${prefix}_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$`);
  }

  make(id: string = randomBytes(8).toString("hex")): NewSecret {
    const secret = `${this.prefix}_${id}_${randomBytes(32).toString("base64url")}`;
    return { id, secret, hash: hashOf(secret) };
  }

  /** What a secret names; null for all that cannot be one. */
  idIn(secret: string): string | null {
    return this.form.exec(secret)?.[1] ?? null;
  }
}

export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** What a chain records of a secret, so that a check finds a row whose secret was exchanged. Nothing can be opened with it. */
export function digestOf(hash: string, previous: string | null = null): string {
  return hashOf(`${hash}:${previous ?? ""}`);
}

/** Takes as long for a wrong hash as for a right one. */
export function isSameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** The instant from which a secret is no longer taken; null for never. */
export function readExpiry(expires: Date | null, now: number): number | null {
  if (expires === null) return null;
  if (expires instanceof Date && expires.getTime() > now) return expires.getTime();
  throw new InputError("expires", `is ${show(expires)}; allowed: a Date that is to come, or null for never`);
}
