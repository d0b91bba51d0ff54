import { UsageError, unknown } from "../app/errors.js";
import { readArguments } from "../arguments/parse-arguments.js";
import type { Terminal } from "../terminal/terminal.js";
import { bashScript } from "./completion-bash.js";
import { fishScript } from "./completion-fish.js";
import { type CommandEntry, readHelp } from "./completion-table.js";
import { zshScript } from "./completion-zsh.js";

const HELP = `Usage: bursar completion <shell>

Prints a script that teaches a shell the commands and flags of bursar, and to
look up runs, requests, budgets and keys in the store. It holds what this
version understands: make it anew after an upgrade.

Commands:
  bash  for bash, of version 3 or newer
  zsh   for zsh, with its completion system
  fish  for fish

Flags:
  --help  this text

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar completion bash > ~/.local/share/bash-completion/completions/bursar
  bursar completion zsh > ~/.zsh/completions/_bursar
  bursar completion fish > ~/.config/fish/completions/bursar.fish
  eval "$(bursar completion bash)"
`;

/** All commands of the command line, as main knows them. */
export interface Commands {
  readonly help: string;
  readonly load: ReadonlyMap<string, () => Promise<(args: readonly string[], terminal: Terminal) => Promise<number>>>;
}

const SHELLS: ReadonlyMap<string, (entries: readonly CommandEntry[]) => string> = new Map([
  ["bash", bashScript],
  ["zsh", zshScript],
  ["fish", fishScript],
]);

export async function completion(args: readonly string[], terminal: Terminal, commands: Commands): Promise<number> {
  // This is what the scripts ask, and it never complains: nobody wants to read that at a prompt.
  if (args[0] === "ids") {
    const [, kind = "", line = ""] = args;
    const { idsFor } = await import("./completion-ids.js");
    return terminal.finish(0, await idsFor(kind, line, terminal));
  }
  const { flags, words } = readArguments(args, { help: { type: "boolean", short: "h" } }, 1);
  if (flags.help) return terminal.finish(0, HELP);
  const [shell] = words;
  const known = [...SHELLS.keys()];
  if (shell === undefined) throw new UsageError(`the shell is missing; known: ${known.join(", ")}`);
  const script = SHELLS.get(shell);
  if (script === undefined) throw new UsageError(unknown(`the shell ${shell.slice(0, 100)}`, shell, known));
  return terminal.finish(0, script(await tableOf(commands, terminal)));
}

/** Everything that can be said after `bursar`, as the help texts have it. */
export async function tableOf({ help, load }: Commands, terminal: Terminal): Promise<readonly CommandEntry[]> {
  const top = readHelp("", help);
  const entries: CommandEntry[] = [top];
  for (const [name, loaded] of load) {
    const run = await loaded();
    const entry = readHelp(name, await helpOf(run, ["--help"], terminal));
    entries.push(entry);
    for (const { name: below } of entry.commands) {
      const help = await helpOf(run, [below, "--help"], terminal);
      // There are two levels, and some commands say the same on both.
      entries.push({ ...readHelp(`${name} ${below}`, help), commands: [] });
    }
  }
  return [...entries, { path: "help", commands: top.commands, flags: [], wanted: [] }];
}

/** What a command would print. */
async function helpOf(
  run: (args: readonly string[], terminal: Terminal) => Promise<number>,
  args: readonly string[],
  terminal: Terminal,
): Promise<string> {
  let said = "";
  const finish = (code: number, text: string) => {
    said += text;
    return code;
  };
  await run(args, { ...terminal, finish });
  return said;
}
