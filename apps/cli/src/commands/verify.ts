import { existsSync } from "node:fs";
import { type Head, type StoredVerification, sha256Hex, type Verification, verifyJsonl, verifyStored } from "bursar";
import { UsageError } from "../app/errors.js";
import { readArguments } from "../arguments/parse-arguments.js";
import type { Given } from "../arguments/run-flags.js";
import { counted } from "../render/quantities.js";
import { facts } from "../render/report.js";
import { harmless, type Style, styleFor, wantsColour, wrap } from "../render/style.js";
import { ProgressBar } from "../terminal/progress-bar.js";
import type { Terminal } from "../terminal/terminal.js";
import { openPlace } from "./common/place.js";
import { findChain } from "./find-chain.js";
import { counting, openFile } from "./store-move.js";

const HELP = `Usage: bursar verify <file.jsonl | run | chain> [flags]

Verifies a chain: that no link was changed, dropped, inserted or moved. For
a file it needs neither a store nor a key; - is standard input. A run is looked
for in the store, by its id or any unambiguous beginning of it, and verified
against the head that the store has for it, and against the heads of it that
the chain bursar:tenant names. So is any other chain, by its full
name: bursar:server is the server's own.

Flags:
  --head <head>    the last link, as chain:seq:hash; only with it can be seen
                   whether the end was cut off. \`bursar verify\` prints it so.
  --store <url>    where the run or the chain is; it says that no file is meant
  --config <file>  the configuration that names the store
  --json           the result as one JSON object
  --quiet          nothing but the exit code
  --help           this text

Exit codes:
  0    verified
  1    not verified; the first bad link is named
  2    the command line was not understood
  130  interrupted

Examples:
  bursar verify run-7.jsonl
  bursar verify 0194a2
  bursar verify bursar:server
  bursar verify run-7.jsonl --head run-7:41:9f86d081884c7d659a2feaa0c55ad015…
`;

const FLAGS = {
  head: { type: "string" },
  store: { type: "string" },
  config: { type: "string" },
  json: { type: "boolean" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

export async function verify(args: readonly string[], terminal: Terminal): Promise<number> {
  const { flags, words } = readArguments(args, FLAGS, 1);
  const { finish, signal, env, isTerminal } = terminal;
  if (flags.help) return finish(0, HELP);
  const [file] = words;
  if (file === undefined)
    throw new UsageError("the file to verify is missing, or the id of a run, or the name of a chain");
  const head = flags.head === undefined ? undefined : readHead(flags.head);
  try {
    const isKept = flags.store !== undefined || !isFile(file);
    const seen: Terminal = flags.quiet ? { ...terminal, aside: null } : terminal;
    const result = isKept ? await verifyKept(file, head, flags, seen) : await verifyFile(file, head, seen);
    const style = styleFor(wantsColour(env, isTerminal));
    const said = flags.quiet ? "" : text(file, result, isKept || head !== undefined, style);
    return finish(result.ok ? 0 : 1, flags.json ? `${JSON.stringify(result)}\n` : said);
  } catch (error) {
    if (signal.aborted) return 130;
    throw error;
  }
}

/** What is there is a file, and so is what only a file can be called. */
function isFile(word: string): boolean {
  return word === "-" || /[\\/]|\.jsonl?$/i.test(word) || existsSync(word);
}

async function verifyKept(
  word: string,
  head: Head | undefined,
  flags: Given,
  terminal: Terminal,
): Promise<StoredVerification> {
  await using place = await openPlace(flags, terminal);
  const chain = await findChain(place.store, word);
  using bar = new ProgressBar(terminal.aside);
  const progress = (done: number, total: number) => {
    terminal.signal.throwIfAborted();
    bar.show({ what: "links", done, total });
  };
  return await verifyStored(place.store, chain, { head, progress });
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

function text(file: string, result: Verification | StoredVerification, knowsHead: boolean, style: Style): string {
  if (!result.ok) {
    const problem = wrap(harmless(result.message), 76).map((line) => `    ${line}\n`);
    return `${style.bad("✗ not verified")}  ${file}\n${problem.join("")}`;
  }
  const { chain, seq, hash } = result.head;
  const end = knowsHead ? "" : "Without --head, nobody can tell whether its end was cut off.";
  const pairs: (readonly [string, string])[] = [
    ["chain", chain],
    ["head", `${chain}:${seq}:${hash}`],
  ];
  if ("anchored" in result) pairs.push(["anchor", anchorText(result.anchored)]);
  const note = end === "" ? "" : `  ${style.dim(end)}\n`;
  return `${style.good("✓ verified")}  ${counted(result.links, "link")}\n${facts(pairs, style)}${note}`;
}

function anchorText(anchored: number | null): string {
  if (anchored === null) return "none yet; the sweeper of serve, gateway and worker makes them";
  return `bursar:tenant vouches for it up to link ${anchored}`;
}
