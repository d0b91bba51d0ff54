/*
 * A link is stored as one line: the canonical JSON that was hashed, with the hash put in as its last member. The hashed
 * text is thus a slice of the line and a brace, and nobody has to write it again in order to check it.
 */

/** What stands between the body and the hash. */
export const HASH_START = ',"hash":"';
const HASH_LENGTH = 64;
const HASH_END = '"}';
/** How much of a line is not hashed; always the same, because hashes are of one length. */
export const HASH_MEMBER_LENGTH: number = HASH_START.length + HASH_LENGTH + HASH_END.length;

/** The line for a link with this canonical body and this hash. */
export function withHash(body: string, hash: string): string {
  return `${body.slice(0, -1)}${HASH_START}${hash}${HASH_END}`;
}

/** Whether the last member of a line is a hash, written as it has to be. */
export function endsWithHash(line: string): boolean {
  return line.endsWith(HASH_END) && line.startsWith(HASH_START, bodyLength(line));
}

function bodyLength(line: string): number {
  return line.length - HASH_MEMBER_LENGTH;
}

/** The text that a line's hash was taken over. */
export function hashedText(line: string): string {
  return `${line.slice(0, bodyLength(line))}}`;
}

/** The hash that a line claims. */
export function claimedHash(line: string): string {
  return line.slice(-HASH_LENGTH - HASH_END.length, -HASH_END.length);
}
