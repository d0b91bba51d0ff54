/** What stands for a flag's value, or for the word of a command. */
export type Wanted = "files" | "runs" | "chains" | "budgets" | "requests" | "keys" | "tokens";

export interface FlagEntry {
  readonly name: string;
  readonly about: string;
  /** Whether a value follows. */
  readonly valued: boolean;
  readonly wanted: Wanted | null;
  /** The values there are, where they can be told. */
  readonly values: readonly string[];
}

/** All that can follow a command, as its help says it. */
export interface CommandEntry {
  /** Its words, such as `store check`; empty for `bursar` itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly flags: readonly FlagEntry[];
  readonly wanted: readonly Wanted[];
}

const STATUSES = ["queued", "running", "paused", "completed", "failed", "cancelled"];
const ROLES = ["viewer", "operator", "agent", "admin"];

/** Values that are told in the sentences of a help, and by nothing that could be read. */
export const VALUES: Readonly<Record<string, readonly string[]>> = {
  "approvals --status": ["pending", "approved", "denied", "expired", "withdrawn", "all"],
  "config show --authority": ["operator", "agent"],
  "exec --language": ["python", "javascript"],
  "mcp --role": ["agent", "operator"],
  "mcp --setup": ["claude-code", "claude-desktop", "cursor", "vscode"],
  "packages add --source": ["auto", "pypi", "debian"],
  "run --preflight": ["refuse", "ask", "warn", "off"],
  "runs --status": STATUSES,
  "tokens create --role": ROLES,
};

const FLAG = /^ {2}(-\w|--[\w-]+)(?:, (--[\w-]+))?(?: (<[^>]*>))?(?: +(.*))?$/;
const COMMAND = /^ {2}([a-z]+) +(.*)$/;

/** Reads a help text: it is what people see, so what is completed is what they were told. */
export function readHelp(path: string, help: string): CommandEntry {
  const said = sectionOf(help, "Flags").flatMap((line) => flagIn(path, line));
  // A sentence below the flags may begin with one of them.
  const flags = said.filter(({ name }, at) => said.findIndex((flag) => flag.name === name) === at);
  const commands = sectionOf(help, "Commands").flatMap((line) => {
    const [, name, about = ""] = COMMAND.exec(line) ?? [];
    return name === undefined ? [] : [{ name, about }];
  });
  return { path, commands, flags, wanted: wantedIn(help.split("\n", 1)[0] ?? "") };
}

/** The commands that have commands below them. */
export function groupsOf(entries: readonly CommandEntry[]): readonly string[] {
  return entries
    .filter(({ path, commands }) => !["", "help"].includes(path) && commands.length > 0)
    .map(({ path }) => path);
}

function sectionOf(help: string, title: string): readonly string[] {
  const [, section = ""] = new RegExp(`^${title}:\\n((?:[^\\n]+\\n)*)`, "m").exec(help) ?? [];
  return section.split("\n");
}

function flagIn(path: string, line: string): readonly FlagEntry[] {
  const [, first, second, value, about = ""] = FLAG.exec(line) ?? [];
  if (first === undefined) return [];
  const wanted = /file|path|folder/.test(value ?? "") ? "files" : null;
  return [first, ...(second === undefined ? [] : [second])].map((name) => {
    return { name, about, valued: value !== undefined, wanted, values: VALUES[`${path} ${name}`] ?? [] };
  });
}

/** What a command wants beside its flags stands in brackets in the line that shows its usage. */
function wantedIn(usage: string): readonly Wanted[] {
  const [, words = ""] = /^Usage: bursar [a-z ]+(?:\[command\] )?[<[]([^>\]]*)[>\]]/.exec(usage) ?? [];
  const kinds: readonly (readonly [RegExp, Wanted])[] = [
    [/file|folder|script/, "files"],
    [/\brequest\b/, "requests"],
    [/\bchain\b/, "chains"],
    [/\bbudget\b/, "budgets"],
    [/\brun\b/, "runs"],
    [/\bkey\b/, "keys"],
    [/\btoken\b/, "tokens"],
  ];
  const wanted = kinds.filter(([pattern]) => pattern.test(words)).map(([, kind]) => kind);
  // Runs that wait for a request are offered with the requests, no other can be meant; and every run has a chain and a budget.
  const hasRuns = (["requests", "chains", "budgets"] as const).some((kind) => wanted.includes(kind));
  return hasRuns ? wanted.filter((kind) => kind !== "runs") : wanted;
}
