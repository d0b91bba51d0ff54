import { harmless, type Style } from "../../render/style.js";
import type { Terminal } from "../../terminal/terminal.js";

export interface OutputChoice {
  readonly json: boolean;
  readonly quiet: boolean;
}

/** What every command says that stays until it is stopped: lines or JSON on standard output, notes and faults on standard error. */
export class ServiceOutput {
  protected readonly terminal: Terminal;
  protected readonly style: Style;
  protected readonly choice: OutputChoice;

  constructor(terminal: Terminal, style: Style, choice: OutputChoice) {
    this.terminal = terminal;
    this.style = style;
    this.choice = choice;
  }

  say(text: string): void {
    if (!this.choice.json && !this.choice.quiet) process.stderr.write(`bursar: ${text}\n`);
  }

  failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`bursar: ${harmless(message)}\n`);
  }
}
