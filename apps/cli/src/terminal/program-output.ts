import type { RunRecord } from "bursar";
import { printable } from "../render/style.js";
import type { Screen } from "./frame-painter.js";
import type { Terminal } from "./terminal.js";

type Written = RunRecord["output"];

type Target = Pick<Screen, "write"> & Pick<Terminal, "isTerminal">;

/** Passes on what a program has written, each part once. It is not trusted: to a terminal goes nothing that it would obey. */
export class ProgramOutput {
  private readonly terminal: Target;
  private shown: Written;

  constructor({ output }: Pick<RunRecord, "output">, terminal: Target, isNew: boolean) {
    this.terminal = terminal;
    this.shown = isNew ? { stdout: "", stderr: "" } : output;
  }

  /** Shows all that is new. */
  show(output: Written): void {
    this.pass(output, (text) => text);
  }

  /** Shows the lines that are complete, for a screen on which something else stands in the next one. */
  showLines(output: Written): void {
    this.pass(output, (text) => text.slice(0, text.lastIndexOf("\n") + 1));
  }

  private pass(output: Written, part: (text: string) => string): void {
    const { write, isTerminal } = this.terminal;
    const stdout = part(added(this.shown.stdout, output.stdout));
    const stderr = part(added(this.shown.stderr, output.stderr));
    this.shown = {
      stdout: grown(this.shown.stdout, output.stdout, stdout),
      stderr: grown(this.shown.stderr, output.stderr, stderr),
    };
    if (stdout !== "") write(isTerminal ? printable(stdout) : stdout);
    if (stderr !== "") process.stderr.write(process.stderr.isTTY ? printable(stderr) : stderr);
  }
}

/** A program that is replayed writes what it has written before: that is nothing new. */
function added(before: string, now: string): string {
  if (before.startsWith(now)) return "";
  return now.startsWith(before) ? now.slice(before.length) : now;
}

function grown(before: string, now: string, shown: string): string {
  return before.startsWith(now) || now.startsWith(before) ? before + shown : shown;
}
