import type { JsonObject } from "../core/chain/canonical.js";
import type { Document } from "../core/document.js";
import type { PutOperation } from "../core/operation.js";
import { BEGINNING, type Position } from "./player.js";

/** From where a run goes on: how far its program has come, and the program itself if it could be saved. */
export interface Checkpoint {
  readonly id: string;
  /** Which part of the journal follows. */
  readonly part: number;
  readonly position: Position;
  readonly saved: JsonObject | null;
  readonly version: number;
}

const SUFFIX = "/checkpoint";

export function checkpointId(run: string): string {
  return `${run}${SUFFIX}`;
}

/**
 * The name of a checkpoint at which a run stands still. There is one for each time that somebody has driven it so far, so that an answer
 * which names it is never taken for one to what the run asks later.
 */
export function stopId(run: string, epoch: number): string {
  return `${run}${SUFFIX}.${epoch}`;
}

const CHECKPOINT = /^(.+)\/checkpoint(\.\d+)?$/;

/** The run that a checkpoint belongs to; null when the id is none of a checkpoint. */
export function runOfCheckpoint(id: string): string | null {
  return CHECKPOINT.exec(id)?.[1] ?? null;
}

/** Whether an id names the checkpoint of a run, and not at which of its stops. */
export function isAnyStop(id: string): boolean {
  const [, run, stop] = CHECKPOINT.exec(id) ?? [];
  return run !== undefined && stop === undefined;
}

export function readCheckpoint(run: string, document: Document | null): Checkpoint {
  const id = checkpointId(run);
  if (document === null) return { id, part: 0, position: BEGINNING, saved: null, version: 0 };
  const body = document.body as unknown as Omit<Checkpoint, "id" | "version">;
  return { id, ...body, version: document.version };
}

export function putCheckpoint({ id, version, ...body }: Checkpoint): PutOperation {
  const json = body as unknown as JsonObject;
  return { op: "put", kind: "session", id, budget: null, status: "checkpoint", body: json, version };
}

/** What is left of a checkpoint after its run has ended: its name, and how many parts the journal has. */
export function emptied({ id, part, version }: Checkpoint): PutOperation {
  return { op: "put", kind: "session", id, budget: null, status: "removed", body: { part }, version };
}
