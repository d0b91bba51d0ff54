#!/usr/bin/env node
import { CommandError, UsageError } from "./app/errors.js";
import { version } from "./app/version.js";
import { readFlags, unknownCommand } from "./arguments/parse-arguments.js";
import { openTerminal, type Terminal } from "./terminal/terminal.js";

const HELP = `Usage: bursar <command> [flags]

Hard budgets for AI agents: a call that does not fit is refused before it is
made.

Commands:
  approvals     what runs wait for
  approve       say yes to a request, and let its run go on
  cancel        end a run
  chain         the chain of a run
  completion    a script that completes commands in bash, zsh or fish
  config        what agents may use: show, check, init
  demo          watch a run meet its budget, pause and go on, without a key
  deny          say no to a request
  estimate      what a run would take, before anything is spent
  exec          run Python or JavaScript in the sandbox
  extend        add to the budget of a run, a session or a key
  gateway       hard budgets for clients of any language, by a base address
  holds         what calls under way hold, and whose they are: list, settle
  keys          the keys of the gateway: list, create, rotate, revoke
  mcp           the Model Context Protocol for a client that starts it
  packages      look after what Python can import there: list, add, remove,
                licences
  python        the CPython in there: show which one it is, build a faster one
  resume        let a run go on where it was
  run           run a program inside a budget
  runs          the runs in a store
  serve         the server: page, HTTP API, gateway and MCP in one process
  show          all there is to see of a run
  store         look after a store: info, check, migrate, export, import,
                vacuum, backup, archive
  tokens        who may use the server, and as what: list, create, revoke
  tui           approvals and runs on the whole screen, as they change
  verify        verify the chain of a run, or the file of one
  worker        drive runs that wait, and those whose worker is gone
  help          this text; \`bursar help store check\`: that of a command

Flags:
  --help        this text; after a command, the text of that command
  --version     the version

Exit codes:
  0    done
  1    failed
  2    the command line, or the URL of the store, was not understood
  3    a run was cancelled
  4    a run has paused, and waits for an approval
  5    a limit has stopped a run, or would not suffice for one
  130  interrupted
  141  nobody read the output to its end

Examples:
  bursar demo
  bursar exec -c 'print(6 * 7)'
  bursar run research.py --budget cost_usd=0.50,steps=20
  bursar store check --store sqlite:bursar.db
  bursar verify run-7.jsonl
`;

type Command = (args: readonly string[], terminal: Terminal) => Promise<number>;

/** Each is loaded when it is asked for: all of them together take longer to load than most take to run. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["approvals", async () => (await import("./commands/approvals.js")).approvals],
  ["approve", async () => (await import("./commands/approve.js")).approve],
  ["cancel", async () => (await import("./commands/cancel.js")).cancel],
  ["chain", async () => (await import("./commands/chain.js")).chain],
  ["completion", async () => completing((await import("./commands/completion.js")).completion)],
  ["config", async () => (await import("./commands/config.js")).config],
  ["demo", async () => (await import("./commands/demo.js")).demo],
  ["deny", async () => (await import("./commands/deny.js")).deny],
  ["estimate", async () => (await import("./commands/estimate.js")).estimate],
  ["exec", async () => (await import("./commands/exec.js")).exec],
  ["extend", async () => (await import("./commands/extend.js")).extend],
  ["gateway", async () => (await import("./commands/gateway.js")).gateway],
  ["holds", async () => (await import("./commands/holds.js")).holds],
  ["keys", async () => (await import("./commands/keys.js")).keys],
  ["mcp", async () => (await import("./commands/mcp.js")).mcp],
  ["packages", async () => (await import("./commands/packages.js")).packages],
  ["python", async () => (await import("./commands/python.js")).python],
  ["resume", async () => (await import("./commands/resume.js")).resume],
  ["run", async () => (await import("./commands/run.js")).run],
  ["runs", async () => (await import("./commands/runs.js")).runs],
  ["serve", async () => (await import("./commands/serve.js")).serve],
  ["show", async () => (await import("./commands/show.js")).show],
  ["store", async () => (await import("./commands/store.js")).store],
  ["tokens", async () => (await import("./commands/tokens.js")).tokens],
  ["tui", async () => (await import("./commands/tui.js")).tui],
  ["verify", async () => (await import("./commands/verify.js")).verify],
  ["worker", async () => (await import("./commands/worker.js")).worker],
]);

/** What is completed is what all the commands say they understand. */
function completing(completion: typeof import("./commands/completion.js").completion): Command {
  return (args, terminal) => completion(args, terminal, { help: HELP, load: COMMANDS });
}

async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name.startsWith("-")) return general(args, terminal);
  if (name === "help") return main(rest[0] === "help" ? ["--help"] : [...rest, "--help"], terminal);
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(unknownCommand("the command ", name, [...COMMANDS.keys(), "help"]));
  return (await command())(rest, terminal);
}

function general(args: readonly string[], { finish }: Terminal): number {
  const flags = readFlags(args, { help: { type: "boolean", short: "h" }, version: { type: "boolean" } });
  return finish(0, flags.version ? `${version()}\n` : HELP);
}

/** The command whose help tells more. */
async function helpOf([name = "", second = ""]: readonly string[]): Promise<string> {
  const words = COMMANDS.has(name) ? [name] : [];
  if (name === "store" && (await import("./commands/store.js")).isStoreCommand(second)) words.push(second);
  return ["bursar", ...words, "--help"].join(" ");
}

/** Whoever was told to stop, and has put everything in order, does not wait for tools that do not listen. */
const LINGER_MS = 1000;

const given = process.argv.slice(2);
const terminal = openTerminal();
try {
  process.exitCode = await main(given, terminal);
  if (process.exitCode === 130) process.stderr.write("bursar: interrupted\n");
} catch (error) {
  const code = error instanceof UsageError || isStoreUrl(error) ? 2 : 1;
  const report = given.includes("--json") ? await reportOf(error) : null;
  if (report !== null) terminal.finish(code, `${JSON.stringify(report)}\n`);
  else process.stderr.write(`${await describe(error)}\n`);
  process.exitCode = code;
}

if (terminal.signal.aborted) setTimeout(() => process.exit(), LINGER_MS).unref();

/** What we throw on purpose says all there is to say; anything else is a fault of ours, and where it comes from helps. */
async function describe(error: unknown): Promise<string> {
  if (error instanceof UsageError) return `bursar: ${error.message}\nSee ${await helpOf(given)}.`;
  const { BursarError } = await import("bursar");
  if (error instanceof BursarError || error instanceof CommandError) return `bursar: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The same for programs that asked for JSON; null for a fault of ours, of which only people can make something. */
async function reportOf(error: unknown): Promise<object | null> {
  if (error instanceof UsageError) {
    return { ok: false, error: { code: "usage", message: error.message, help: await helpOf(given) } };
  }
  const { BursarError } = await import("bursar");
  if (error instanceof BursarError) return { ok: false, error: { code: error.code, message: error.message } };
  return error instanceof CommandError ? { ok: false, error: { code: "failed", message: error.message } } : null;
}

/** The URL of a store is part of the command line. */
function isStoreUrl(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "store_url";
}
