import { type Head, sha256Hex, type Verification, verifyJsonl } from "bursar";
import { readArguments, UsageError } from "../args.js";
import { ProgressBar } from "../render/progress.js";
import { counted } from "../render/quantities.js";
import { facts } from "../render/report.js";
import { harmless, type Style, styleFor, wantsColour, wrap } from "../render/style.js";
import type { Terminal } from "../terminal.js";
import { counting, openFile } from "./store-move.js";

const HELP = `Usage: bursar verify <file.jsonl> [flags]

Verifies the file of a chain: that no link was changed, dropped, inserted or
moved. It needs neither a store nor a key; - is standard input.

Flags:
  --head <head>  the last link, as chain:seq:hash; only with it can be seen
                 whether the end was cut off. \`bursar verify\` prints it so.
  --json         the result as one JSON object
  --help         this text

Exit codes:
  0    verified
  1    not verified; the first bad link is named
  2    the command line was not understood
  130  interrupted

Examples:
  bursar verify run-7.jsonl
  bursar verify run-7.jsonl --head run-7:41:9f86d081884c7d659a2feaa0c55ad015…
`;

const FLAGS = {
  head: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

export async function verify(args: readonly string[], terminal: Terminal): Promise<number> {
  const { flags, words } = readArguments(args, FLAGS, 1);
  const { finish, signal, env, isTerminal } = terminal;
  if (flags.help) return finish(0, HELP);
  const [file] = words;
  if (file === undefined) throw new UsageError("the file to verify is missing");
  const head = flags.head === undefined ? undefined : readHead(flags.head);
  try {
    const result = await verifyFile(file, head, terminal);
    const style = styleFor(wantsColour(env, isTerminal));
    const said = flags.json ? `${JSON.stringify(result)}\n` : text(file, result, head !== undefined, style);
    return finish(result.ok ? 0 : 1, said);
  } catch (error) {
    if (signal.aborted) return 130;
    throw error;
  }
}

async function verifyFile(file: string, head: Head | undefined, terminal: Terminal): Promise<Verification> {
  const { signal, aside, input } = terminal;
  if (file === "-" && input === null) throw new UsageError("nothing is piped in; name a file, or pipe a chain in");
  const { chunks, total } = file === "-" && input !== null ? { chunks: input, total: 0 } : openFile(file);
  using bar = new ProgressBar(aside);
  return await verifyJsonl(counting(chunks, total, { progress: bar.show, signal }), { hash: sha256Hex, head });
}

/** From its end, because the name of a chain may hold colons. */
function readHead(given: string): Head {
  const [, chain, seq, hash] = /^(.+):(\d{1,15}):([0-9a-f]{64})$/.exec(given) ?? [];
  if (chain === undefined || seq === undefined || hash === undefined) {
    throw new UsageError("--head is no head; allowed: chain:seq:hash, with the hash as 64 hex digits");
  }
  return { chain, seq: Number(seq), hash };
}

function text(file: string, result: Verification, knowsHead: boolean, style: Style): string {
  if (!result.ok) {
    const problem = wrap(harmless(result.message), 76).map((line) => `    ${line}\n`);
    return `${style.bad("✗ not verified")}  ${file}\n${problem.join("")}`;
  }
  const { chain, seq, hash } = result.head;
  const end = knowsHead ? "" : "Without --head, nobody can tell whether its end was cut off.";
  const pairs = [["chain", chain] as const, ["head", `${chain}:${seq}:${hash}`] as const];
  const note = end === "" ? "" : `  ${style.dim(end)}\n`;
  return `${style.good("✓ verified")}  ${counted(result.links, "link")}\n${facts(pairs, style)}${note}`;
}
