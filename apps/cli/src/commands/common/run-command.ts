import { BursarError, RunError } from "bursar";
import { CommandError, UsageError } from "../../app/errors.js";
import { readArguments } from "../../arguments/parse-arguments.js";
import { COMMON, type Flags, type Given } from "../../arguments/run-flags.js";
import { type Style, styleFor, wantsColour } from "../../render/style.js";
import { Patience } from "../../terminal/patience.js";
import type { Terminal } from "../../terminal/terminal.js";
import { EXIT } from "./exit-code.js";

/** One command about runs. */
export interface RunsCommand {
  readonly help: string;
  readonly flags?: Flags;
  /** What has to be named beside the flags, and what to say when it is missing. */
  readonly word?: string;
  /** The flag with which nothing has to be named. */
  readonly wordless?: string;
  /** Whether it need not be named. */
  readonly optional?: boolean;
  /** What is said when it takes longer than a second; none for commands that show what they do. */
  readonly waits?: string;
  readonly run: (chore: Chore) => Promise<Done>;
}

export interface Chore {
  readonly word: string;
  readonly flags: Given;
  readonly terminal: Terminal;
  /** For what goes to standard output. */
  readonly style: Style;
}

/** What came out: for programs, for people, and as an exit code. */
export interface Done {
  /** Null when all has been said. */
  readonly report: object | null;
  readonly text: string;
  /** What is left of the text with --quiet; all of it where nothing is said. */
  readonly brief?: string;
  readonly code?: number;
}

/** Runs a command about runs, with everything that is the same for all of them. */
export async function runsCommand(command: RunsCommand, args: readonly string[], terminal: Terminal): Promise<number> {
  const options = { ...COMMON, ...command.flags };
  const { flags, words } = readArguments(args, options, command.word === undefined ? 0 : 1);
  const { finish, signal, env, isTerminal } = terminal;
  if (flags.help) return finish(EXIT.done, command.help);
  const [word = ""] = words;
  const isOptional = command.optional === true;
  const isNamed = !isOptional && (command.wordless === undefined || (flags as Given)[command.wordless] === undefined);
  if (command.word !== undefined && word === "" && isNamed) throw new UsageError(`${command.word} is missing`);
  try {
    const style = styleFor(wantsColour(env, isTerminal));
    const done = await patiently(command, { word, flags: flags as Given, terminal, style });
    return finish(done.code ?? EXIT.done, saidOf(done, flags as Given));
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    if (!(error instanceof BursarError || error instanceof CommandError)) throw error;
    return failed(error, flags as Given, finish);
  }
}

/** A budget that lets nothing begin is a limit like any other. */
function failed(error: BursarError | CommandError, { json }: Given, finish: Terminal["finish"]): number {
  const code = error instanceof BursarError ? error.code : "failed";
  const isExhausted = error instanceof RunError && code === "exhausted";
  const exit = isExhausted ? EXIT.stopped : code === "store_url" ? 2 : EXIT.failed;
  if (json === true) return finish(exit, `${JSON.stringify({ ok: false, error: { code, message: error.message } })}\n`);
  if (!isExhausted) throw error;
  process.stderr.write(`bursar: ${error.message}\n`);
  return finish(exit, "");
}

/** What a command says at its end, to whom it says it. */
function saidOf({ report, text, brief = text }: Done, { json, quiet }: Given): string {
  if (json !== true) return quiet === true ? brief : text;
  return report === null ? "" : `${JSON.stringify(report)}\n`;
}

/** Names one below the other, as other programs read them. */
export function listed(names: readonly string[]): string {
  return names.map((name) => `${name}\n`).join("");
}

function patiently({ run, waits }: RunsCommand, chore: Chore): Promise<Done> {
  if (waits === undefined || chore.flags.json === true || chore.flags.quiet === true) return run(chore);
  const patience = new Patience(chore.terminal.aside, waits);
  return run(chore).finally(() => patience[Symbol.dispose]());
}
