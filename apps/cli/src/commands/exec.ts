import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { type Language, type OutputPiece, openSandbox, type SandboxResult, type SandboxSession } from "@bursar/sandbox";
import { CommandError, UsageError } from "../app/errors.js";
import { isSandboxFault } from "../app/sandbox-fault.js";
import { readArguments } from "../arguments/parse-arguments.js";
import { readSpan } from "../arguments/read-span.js";
import { cutText, executionText } from "../render/execution.js";
import { bytes } from "../render/quantities.js";
import { printable, styleFor, wantsColour } from "../render/style.js";
import { Patience } from "../terminal/patience.js";
import type { Terminal } from "../terminal/terminal.js";
import { converse } from "./exec-dialogue.js";

const HELP = `Usage: bursar exec [script] [flags] [-- arguments of the program]

Runs untrusted Python or JavaScript in a sandbox: no network, no files but its
own, a fixed amount of fuel. Without a script and without -c it reads the
program from standard input, or starts a dialogue when that is a keyboard: an
empty line ends a block of Python, Ctrl-C stops what runs or drops what was
typed, and Ctrl-D, exit() or std.exit() ends it.

Flags:
  -c, --code <code>  the program itself
  --language <name>  python or javascript; else by the script's name (.py, .js,
                     .mjs), and python where that does not say
  --fuel <amount>    what it may burn: 10B unless said otherwise; 500M, 2B, …
  --timeout <time>   how long it may take: 60s unless said otherwise
  --memory <MiB>     how large its memory may grow: 256 unless said otherwise
  --output <MiB>     how much it may print, on each of its two streams: 64
                     unless said otherwise; more is cut, which is said
  --file <path>      a file the program finds in /app; may be given again
  --package <name>   a vendored package it may import; may be given again
  --deterministic    the same clock and randomness every time
  --json             the result as one JSON object
  --quiet            nothing but the program's own output
  --help             this text

Exit codes:
  the program's own, or
  2    the command line was not understood
  124  it took too long
  130  it was interrupted, with Ctrl-C
  134  it crashed
  137  it ran out of fuel, or of memory; but where Python raises a
       MemoryError, that ends it with 1 unless it is caught, as any error
  153  it ended well, but its output was cut at --output

Examples:
  bursar exec -c 'print(6 * 7)'
  bursar exec report.py --file sales.csv --fuel 2B
  echo 'console.log(1)' | bursar exec --language javascript --json
`;

const FLAGS = {
  code: { type: "string", short: "c" },
  language: { type: "string" },
  fuel: { type: "string" },
  timeout: { type: "string" },
  memory: { type: "string" },
  output: { type: "string" },
  file: { type: "string", multiple: true },
  package: { type: "string", multiple: true },
  deterministic: { type: "boolean" },
  json: { type: "boolean" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** As of a process that was ended by SIGXFSZ. */
const OUTPUT_CUT = 153;

interface Wanted {
  readonly code: string | null;
  readonly name: string;
  readonly language: Language;
  readonly argv: readonly string[];
}

export async function exec(args: readonly string[], terminal: Terminal): Promise<number> {
  const end = args.indexOf("--");
  const [own, rest] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  const { flags, words } = readArguments(own, FLAGS, 1);
  if (flags.help) return terminal.finish(0, HELP);
  if (flags.code !== undefined && words.length > 0) throw new UsageError("give either a script or -c, not both");
  const wanted = await wantedBy(flags.code ?? null, words[0] ?? null, flags.language, rest, terminal);
  const outputBytes = readOutput(flags.output ?? "64");
  const options = {
    language: wanted.language,
    fuelBudget: readFuel(flags.fuel ?? "10B"),
    timeout: readTime(flags.timeout ?? "60s"),
    memoryLimit: readMemory(flags.memory ?? "256"),
    limits: { stdout_bytes: outputBytes, stderr_bytes: outputBytes },
    files: await readFiles(listOf(flags.file)),
    packages: listOf(flags.package),
    autoPath: listOf(flags.package).length > 0,
    deterministic: flags.deterministic === true,
  };
  await using sandbox = await openSandbox({ workers: 1 });
  const isDialogue = wanted.code === null;
  const session = await sandbox
    .createSession({ ...options, ...(isDialogue && { autoPersistGlobals: true }) })
    .catch((error: unknown) => {
      if (isSandboxFault(error)) return error;
      throw error;
    });
  if (session instanceof Error) return refused(session, flags.json === true, terminal);
  if (isDialogue) return await converse(session, wanted.language, terminal);
  const show = flags.json ? null : showing(terminal);
  const result = await run(session, wanted, terminal, flags.quiet !== true, show);
  const cut = cutText(result);
  const code = cut !== null && result.exit_code === 0 ? OUTPUT_CUT : result.exit_code;
  if (flags.json) return terminal.finish(code, `${JSON.stringify(result)}\n`);
  const style = styleFor(wantsColour(terminal.env, process.stderr.isTTY === true));
  if (!flags.quiet) process.stderr.write(executionText(result, style));
  if (cut !== null) {
    const limit = bytes(outputBytes);
    process.stderr.write(style.bad(`bursar: ${cut} after ${limit}; allow more with --output <MiB>\n`));
  }
  return terminal.finish(code, "");
}

/** Bounds of the sandbox's are bounds of the command line; a package that is not there is none of its faults. */
function refused({ name, message }: Error, json: boolean, { finish }: Terminal): number {
  const isMissing = name === "PackageError";
  if (!json) throw isMissing ? new CommandError(message) : new UsageError(message);
  const error = { code: isMissing ? "package" : "invalid_input", message };
  return finish(isMissing ? 1 : 2, `${JSON.stringify({ ok: false, error })}\n`);
}

async function run(
  session: SandboxSession,
  { code, argv }: Wanted,
  { aside, signal }: Terminal,
  told: boolean,
  show: ((piece: OutputPiece) => void) | null,
): Promise<SandboxResult> {
  // The first time ever, the interpreter is prepared too, which takes a few seconds.
  using patience = new Patience(told ? aside : null, "computing");
  const onOutput = (piece: OutputPiece) => {
    patience[Symbol.dispose]();
    show?.(piece);
  };
  return await session.execute(code ?? "", { argv, signal, ...(show !== null && { onOutput }) });
}

/**
 * Passes a program's output on as it comes, and to a file or a pipe byte for byte. It is not trusted: to a terminal goes nothing that it
 * would obey.
 */
function showing({ isTerminal, write }: Terminal): (piece: OutputPiece) => void {
  return ({ stream, text, bytes }) => {
    if (stream === "stdout") write(isTerminal ? printable(text) : bytes);
    else process.stderr.write(process.stderr.isTTY ? printable(text) : bytes);
  };
}

async function wantedBy(
  code: string | null,
  script: string | null,
  language: string | undefined,
  rest: readonly string[],
  { input }: Terminal,
): Promise<Wanted> {
  const name = script === null || script === "-" ? "<program>" : basename(script);
  const known = readLanguage(language, script);
  if (code !== null) return { code, name, language: known, argv: ["-c", ...rest] };
  if (script !== null && script !== "-") {
    const text = await readFile(script, "utf8").catch((error: NodeJS.ErrnoException) => {
      throw new CommandError(`${script} cannot be read (${error.code}); check its name`);
    });
    return { code: text, name, language: known, argv: [name, ...rest] };
  }
  if (input === null) return { code: null, name, language: known, argv: [] };
  const pieces: Uint8Array[] = [];
  for await (const piece of input) pieces.push(piece);
  return { code: Buffer.concat(pieces).toString("utf8"), name, language: known, argv: ["-", ...rest] };
}

const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ["python", "python"],
  ["py", "python"],
  ["javascript", "javascript"],
  ["js", "javascript"],
  ["mjs", "javascript"],
]);

/** A program in a language that nobody has named must not be taken for one in another. */
function readLanguage(given: string | undefined, script: string | null): Language {
  const ending = extname(script ?? "").toLowerCase();
  const language = LANGUAGES.get(given ?? (ending.slice(1) || "python"));
  if (language !== undefined) return language;
  if (given !== undefined) throw new UsageError(`--language is ${given}; allowed: python, javascript`);
  throw new UsageError(
    `${script} ends in ${ending}, which is no language of the sandbox; allowed: .py, .js, .mjs, or say --language python or --language javascript`,
  );
}

const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, b: 1e9, t: 1e12 };

function readFuel(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,15}(?:\.\d{1,9})?)([kmbt]?)$/i.exec(text) ?? [];
  const fuel = Math.round(Number(number) * (UNITS[unit.toLowerCase()] ?? 1));
  if (number !== "" && fuel > 0) return fuel;
  throw new UsageError(`--fuel is ${text}; allowed: an amount such as 500M, 2B or 10000000`);
}

function readTime(text: string): number {
  const ms = /^\d{1,9}ms$/.test(text) ? Number(text.slice(0, -2)) : readSpan(text);
  if (ms !== null && ms > 0) return ms;
  throw new UsageError(`--timeout is ${text}; allowed: a time such as 500ms, 5s or 2m`);
}

function readMemory(text: string): number {
  const mib = Number(text);
  if (Number.isSafeInteger(mib) && mib >= 32 && mib <= 4096) return mib * 1024 * 1024;
  throw new UsageError(`--memory is ${text}; allowed: 32 to 4096, in MiB`);
}

function readOutput(text: string): number {
  const mib = Number(text);
  if (Number.isSafeInteger(mib) && mib >= 1 && mib <= 1024) return mib * 1024 * 1024;
  throw new UsageError(`--output is ${text}; allowed: 1 to 1024, in MiB`);
}

async function readFiles(paths: readonly string[]): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  for (const path of paths) {
    const name = basename(path);
    if (Object.hasOwn(files, name)) throw new UsageError(`two files are called ${name}; rename one of them`);
    files[name] = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError(`${path} cannot be read (${error.code}); check its name`);
    });
  }
  return files;
}

/** A flag that may be given again is a list. */
function listOf(given: unknown): readonly string[] {
  return Array.isArray(given) ? (given as string[]) : [];
}
