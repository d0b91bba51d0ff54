/** What stands as `prev` in the first link of a chain, which has no predecessor. */
export const ZERO_HASH: string = "0".repeat(64);

const MAX_CHAIN_ID_LENGTH = 200;
const CHAIN_ID = /^[^#\p{Cc}\p{Cs}]+$/u;
const ZERO = 0x30;
const HASH = /^[0-9a-f]{64}$/;

/** Thrown for a link that cannot be written, or a line that is no link. The message names the member, never its content. */
export class LinkError extends Error {
  override readonly name = "LinkError";
  readonly reason: "malformed" | "not_canonical" | "bad_cause";

  constructor(reason: LinkError["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Whether a value can name a chain. `#` is left out because it parts chain and seq in a link's id. */
export function isChainId(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_CHAIN_ID_LENGTH && CHAIN_ID.test(value);
}

/** Says what is wrong with a value that is no chain id. */
export const CHAIN_ID_RULE: string = `must be 1 to ${MAX_CHAIN_ID_LENGTH} characters, without "#" and control characters`;

/** Whether a value is a SHA-256 in lowercase hex. */
export function isHash(value: unknown): value is string {
  return typeof value === "string" && HASH.test(value);
}

/** Whether a value is a whole number of 0 or more, as times and positions are. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * Says what is wrong with a cause, or null. An effect cannot come before its cause, so within one chain a cause has a
 * lower seq; about other chains a single chain can tell nothing.
 */
export function causeProblem(cause: string | null, chain: string, seq: number): string | null {
  if (cause === null) return null;
  const mark = cause.indexOf("#");
  const causeSeq = seqIn(cause, mark + 1);
  const causeChain = cause.slice(0, mark);
  if (causeSeq >= 0 && causeChain === chain) return causeSeq < seq ? null : "is not an earlier link of the chain";
  return causeSeq >= 0 && isChainId(causeChain) ? null : "is not the id of a link (chain#seq)";
}

/** The seq that a link's id ends with, or -1 when the text from `at` on is not one. */
function seqIn(id: string, at: number): number {
  if (at === 0 || at === id.length || (id.charCodeAt(at) === ZERO && id.length > at + 1)) return -1;
  let seq = 0;
  for (let index = at; index < id.length; index++) {
    const digit = id.charCodeAt(index) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    seq = seq * 10 + digit;
  }
  return seq <= Number.MAX_SAFE_INTEGER ? seq : -1;
}

interface MemberRule {
  readonly holds: (value: unknown) => boolean;
  readonly text: string;
}

const name: MemberRule = { holds: isName, text: "must be a string that is not empty" };
const hash: MemberRule = { holds: isHash, text: "must be 64 lowercase hex digits" };
const count: MemberRule = { holds: isCount, text: "must be a whole number of 0 or more" };

/** What a link says, by name. */
export type MemberName = "action_type" | "at" | "cause" | "chain" | "data" | "event" | "id" | "prev" | "seq" | "hash";

/** The members of a link and what each must be. There are no others: what else is to be said goes into `data`. */
export const MEMBER_RULES: { readonly [member in MemberName]: MemberRule } = {
  action_type: name,
  at: count,
  cause: { holds: (value) => value === null || typeof value === "string", text: "must be null or the id of a link" },
  chain: { holds: isChainId, text: CHAIN_ID_RULE },
  data: { holds: isObject, text: "must be an object" },
  event: name,
  id: name,
  prev: hash,
  seq: count,
  hash,
};

/** Throws when a member is not what it must be. */
export function checkMember(member: MemberName, value: unknown): void {
  const rule = MEMBER_RULES[member];
  if (!rule.holds(value)) throw new LinkError("malformed", `"${member}" ${rule.text}`);
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
