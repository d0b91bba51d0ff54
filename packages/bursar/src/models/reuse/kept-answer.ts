import { sha256Hex } from "../../runtime/crypto.js";
import type { AnswerHeaders, WholeAnswer } from "./whole-answer.js";

/** An answer that is given again. */
export interface KeptAnswer {
  readonly answer: WholeAnswer;
  /** What it was charged when it was new, in USD. */
  readonly cost_usd: number;
  /** When that was. */
  readonly instant: number;
}

/** What stands before the body in a file. */
interface Head {
  readonly cost_usd: number;
  readonly instant: number;
  readonly headers: AnswerHeaders;
  readonly hash: string;
}

const LINE_END = 0x0a;

/** Of all of it, and of the question that it belongs to: what lies in another's place is not believed. */
function hashOf(key: string, { cost_usd, instant, headers }: Omit<Head, "hash">, body: Buffer): string {
  return sha256Hex(JSON.stringify([key, cost_usd, instant, headers, sha256Hex(body)]));
}

/** One line that tells about the answer, and its body as it came. */
export function writeKept(key: string, { answer, cost_usd, instant }: KeptAnswer): Buffer {
  const { headers, body } = answer;
  const about = { cost_usd, instant, headers };
  const head: Head = { ...about, hash: hashOf(key, about, body) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

/** Null for a file that is not whole, or not one of ours. */
export function readKept(key: string, bytes: Buffer): KeptAnswer | null {
  const end = bytes.indexOf(LINE_END);
  const head = end === -1 ? null : headOf(bytes.toString("utf8", 0, end));
  const body = bytes.subarray(end + 1);
  if (head === null || head.hash !== hashOf(key, head, body)) return null;
  const { cost_usd, instant, headers } = head;
  return { answer: { status: 200, headers, body }, cost_usd, instant };
}

function headOf(line: string): Head | null {
  try {
    const { cost_usd, instant, headers, hash } = JSON.parse(line) as Partial<Head>;
    const isWhole = typeof cost_usd === "number" && typeof instant === "number" && typeof hash === "string";
    return isWhole && isHeaders(headers) ? { cost_usd, instant, headers, hash } : null;
  } catch {
    return null;
  }
}

function isHeaders(value: unknown): value is AnswerHeaders {
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).every((each) => [each].flat().every((text) => typeof text === "string"));
}
