import { type OutgoingHttpHeaders, STATUS_CODES } from "node:http";
import { IS_NAME, IS_TEXT } from "../http/grammar.js";
import { dateLine } from "./date-line.js";

/** What says where an answer ends, and what comes after it, is said here, once, and by nobody else. */
const OWN: ReadonlySet<string> = new Set(["connection", "keep-alive", "content-length", "transfer-encoding"]);

/** The lines of an answer's head, up to those that say where it ends. */
export function answerText(status: number, headers: OutgoingHttpHeaders): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n`;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || OWN.has(name)) continue;
    if (Array.isArray(value)) for (const each of value) text += fieldLine(name, each);
    else text += fieldLine(name, value);
  }
  return headers.date === undefined ? text + dateLine() : text;
}

function fieldLine(name: string, value: unknown): string {
  const text = typeof value === "string" ? value : String(value);
  if (!IS_NAME.test(name) || !IS_TEXT.test(text)) throw new Error(`the header ${name} holds what no header may`);
  return `${name}: ${text}\r\n`;
}
