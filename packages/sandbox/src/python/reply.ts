import type { HostCall, Import, Outcome } from "../wasm/outcome.js";
import { wildness } from "../wasm/wildness.js";

/** What a guest said about a request, as far as it makes sense. */
export interface Reply {
  readonly outcome: Outcome;
  readonly imports: readonly Import[];
}

const MOST_IMPORTS = 1000;
const MOST_CALLS = 1000;
const LONGEST_NAME = 200;

const GONE: Outcome = {
  kind: "trapped",
  reason: "trap",
  message: "the program has closed or broken what its interpreter needs; the session is as it was before",
};

/** Reads a reply. The guest's program could have written it, so it is taken apart and put together anew. */
export function readReply(reply: unknown): Reply {
  const { imports, answer } = asObject(reply);
  return { outcome: outcomeOf(asObject(answer)), imports: listOf(imports, MOST_IMPORTS).flatMap(importOf) };
}

function outcomeOf({ kind, exit_code, exited, calls, open }: Readonly<Record<string, unknown>>): Outcome {
  if (kind === "ended" && isCount(exit_code)) {
    return { kind, exit_code: exit_code & 0xff, ...(exited === true && { exited }) };
  }
  if (kind === "incomplete") return { kind };
  const waiting = listOf(open, MOST_CALLS).filter(isCount);
  // Whoever waits for nothing would wait for ever.
  if (kind !== "pending" || waiting.length === 0) return GONE;
  return { kind, calls: listOf(calls, MOST_CALLS).flatMap(callOf), open: waiting };
}

function callOf(value: unknown): readonly HostCall[] {
  const { id, name, args = null } = asObject(value);
  const sound = isCount(id) && typeof name === "string" && name.length <= LONGEST_NAME && wildness(args) === null;
  return sound ? [{ id, name, args }] : [];
}

function importOf(value: unknown): readonly Import[] {
  const [name, fuel, loaded] = listOf(value, 3);
  const sound = typeof name === "string" && name.length <= LONGEST_NAME && isCount(fuel);
  return sound ? [{ name, fuel, loaded: loaded === true }] : [];
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown, most: number): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, most) : [];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
