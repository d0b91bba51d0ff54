import type { JsonObject } from "../core/chain/canonical.js";
import type { Document } from "../core/document.js";
import type { PutOperation } from "../core/operation.js";
import type { Prediction } from "../ports/foresight.js";
import type { Store } from "../ports/store.js";
import type { Sample } from "./sample.js";

/** The program that a past is that of. */
export interface Whose {
  readonly name: string;
  readonly digest: string;
  /** Whether somebody has brought it along who may not decide: he chooses its name, and must not bury another's past under his own. */
  readonly brought: boolean;
}

/** What is kept of a run that has ended, for those to come. */
export interface History extends Sample {
  readonly run: string;
  readonly program: string;
  /** Left out for programs that are the operators' own. */
  readonly brought?: true;
  readonly ended: number;
  /** What was predicted for it, in ledger units; null when nothing was. */
  readonly estimate: Readonly<Record<string, Prediction>> | null;
}

const PREFIX = "program ";
const BROUGHT = "brought ";
const LONGEST = 200;

/** Under which the past of a program is looked for. Calls of models have a past in the same place, which begins otherwise. */
export function statusOf({ name, digest, brought }: Whose): string {
  return brought ? `${BROUGHT}${written(name)}#${written(digest)}` : `${PREFIX}${written(name)}`;
}

function written(name: string): string {
  const safe = name.replace(/[\p{Cc}\p{Cs}]/gu, "\ufffd");
  return safe === name && name.length <= LONGEST ? name : `${safe.slice(0, LONGEST)}#${mixed(name)}`;
}

/** Tells names apart that look alike when they are cut (FNV-1a). */
function mixed(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return `${text.length}.${hash.toString(16)}`;
}

/** Writes it over the version that is there, 0 for none. */
export function putHistory({ run, program, ...rest }: History, version: number): PutOperation {
  const body = { program, ...rest } as unknown as JsonObject;
  const status = statusOf({ name: program, digest: rest.digest, brought: rest.brought === true });
  return { op: "put", kind: "history", id: run, budget: null, status, body, version };
}

export function readHistory({ id, body }: Document): History {
  return { ...(body as unknown as Omit<History, "run">), run: id };
}

/** Under what the operators' own programs are looked for that have a past. */
export async function statusesWithHistory(store: Store): Promise<readonly string[]> {
  const statuses = Object.keys(await store.counts("history"));
  return statuses.filter((status) => status.startsWith(PREFIX)).sort();
}
