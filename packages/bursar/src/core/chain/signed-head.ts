import { canonicalize } from "./canonical.js";
import { checkHead, type Head } from "./link.js";
import { isCount, LinkError } from "./rules.js";

/**
 * A head that somebody vouches for. Whoever owns the database could rewrite a whole chain; not one whose head was signed
 * and handed out before. It is a `Head`, so it can be given to `verifyChain`, once `verifyHead` has accepted it.
 */
export interface SignedHead extends Head {
  /** When it was signed, in milliseconds since 1970 UTC. */
  readonly at: number;
  /** Which key signed; it tells keys apart and proves nothing by itself. */
  readonly public_key: string;
  /** Ed25519 over the canonical JSON of `{at, chain, hash, seq}`, in base64url without padding. */
  readonly signature: string;
}

/** Signs texts with one key. */
export interface HeadSigner {
  readonly publicKey: string;
  /** Gives the Ed25519 signature of the text's UTF-8 bytes, in base64url without padding. */
  readonly sign: (text: string) => string | Promise<string>;
}

/** Checks signatures, and says whose are trusted. */
export interface HeadVerifier {
  /** The keys that may have signed. They must come from a source other than the signed head itself. */
  readonly publicKeys: readonly string[];
  readonly verify: (text: string, signature: string, publicKey: string) => boolean | Promise<boolean>;
}

/** Whether a signed head can be relied on, and if not, why. */
export type HeadVerification =
  | { readonly ok: true; readonly head: SignedHead }
  | { readonly ok: false; readonly reason: "malformed" | "unknown_key" | "bad_signature"; readonly message: string };

/** 64 bytes in base64url. The last digit carries two bits only; were the others free, a signature had many spellings. */
const SIGNATURE = /^[A-Za-z0-9_-]{85}[AQgw]$/;
const MEMBERS = ["at", "chain", "hash", "public_key", "seq", "signature"];

/**
 * Signs a head. Hand the result to whoever may one day doubt the chain.
 *
 * @example
 * ```ts
 * const signed = await signHead(head, Date.now(), headSigner(privateKey));
 * ```
 *
 * @throws {LinkError} when the head or the time is not well-formed, or the signer does not give an Ed25519 signature.
 */
export async function signHead(head: Head, at: number, signer: HeadSigner): Promise<SignedHead> {
  checkHead(head);
  if (!isCount(at)) throw new LinkError("malformed", "the time of signing must be a whole number of 0 or more");
  const { chain, hash, seq } = head;
  const signature = await signer.sign(canonicalize({ at, chain, hash, seq }));
  if (!SIGNATURE.test(signature)) throw new LinkError("malformed", "the signer must give 64 bytes in base64url");
  return { at, chain, hash, seq, public_key: signer.publicKey, signature };
}

/**
 * Checks that one of the trusted keys signed this head and that nothing in it was changed since.
 *
 * @example
 * ```ts
 * const checked = await verifyHead(signed, { publicKeys: [trusted], verify: ed25519.verify });
 * if (checked.ok) await verifyChain(lines, { hash: sha256Hex, head: checked.head });
 * ```
 */
export async function verifyHead(signed: SignedHead, verifier: HeadVerifier): Promise<HeadVerification> {
  const problem = formProblem(signed);
  if (problem !== null) return { ok: false, reason: "malformed", message: `The signed head is malformed: ${problem}.` };
  const { at, chain, hash, seq, public_key, signature } = signed;
  if (!verifier.publicKeys.includes(public_key)) {
    return { ok: false, reason: "unknown_key", message: "The head was signed with a key that is not trusted here." };
  }
  if (!(await verifier.verify(canonicalize({ at, chain, hash, seq }), signature, public_key))) {
    return {
      ok: false,
      reason: "bad_signature",
      message: "The head is not what was signed, or another key signed it.",
    };
  }
  return { ok: true, head: signed };
}

/** Signed heads come from files and strangers, so their form is checked whatever their type says. */
function formProblem(signed: SignedHead): string | null {
  if (Object.keys(signed).sort().join() !== MEMBERS.join()) return `its members must be ${MEMBERS.join(", ")}`;
  if (!isCount(signed.at)) return '"at" must be a whole number of 0 or more';
  if (typeof signed.signature !== "string" || !SIGNATURE.test(signed.signature)) {
    return '"signature" must be 64 bytes in base64url without padding';
  }
  try {
    checkHead(signed);
    return null;
  } catch (error) {
    if (error instanceof LinkError) return error.message;
    throw error;
  }
}
