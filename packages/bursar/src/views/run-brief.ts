import type { Document } from "../core/document.js";
import { type ProgramRef, type RunRecord, readRun } from "../runs/record.js";

type Member =
  | "budget"
  | "shares"
  | "session"
  | "parent"
  | "started_by"
  | "created"
  | "ended"
  | "pause"
  | "cancel"
  | "requests";

/** As much of a run as a row needs: without its source, its input, its output and its result, which may be long. */
export interface RunBrief extends Pick<RunRecord, "id" | "status" | Member> {
  readonly program: Pick<ProgramRef, "kind" | "name">;
}

/** Where these stand in the document of a run. */
export const BRIEF: readonly string[] = [
  ...([
    "budget",
    "shares",
    "session",
    "parent",
    "started_by",
    "created",
    "ended",
    "pause",
    "cancel",
  ] satisfies Member[]),
  "requests",
  "program.kind",
  "program.name",
];

export function readBrief(document: Document): RunBrief {
  return readRun(document);
}
