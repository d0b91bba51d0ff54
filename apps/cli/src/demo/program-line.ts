import type { JsonObject } from "bursar";

/** A line of a program. */
export interface ProgramLine {
  /** The first is 1. */
  readonly number: number;
  readonly text: string;
}

export function linesOf(code: string): readonly ProgramLine[] {
  return code
    .trimEnd()
    .split("\n")
    .map((text, index) => ({ number: index + 1, text }));
}

/** The line at whose `await` a program waits for this action; null when several lines ask for such a one. */
export function waitingLine(code: string, { name }: JsonObject): ProgramLine | null {
  const asking = linesOf(code).filter(({ text }) => text.includes(`await host.${name}(`));
  const [line] = asking;
  return asking.length === 1 && line !== undefined ? line : null;
}
