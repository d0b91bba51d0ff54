import { parseLine } from "bursar";
import { COMMON_HELP, QUIET } from "../arguments/run-flags.js";
import { linkText } from "../render/run-chain.js";
import type { Terminal } from "../terminal/terminal.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";
import { findChain } from "./find-chain.js";

const COMMAND: RunsCommand = {
  help: `Usage: bursar chain <run | chain> [flags]

The chain of a run: all that was decided about it, as links in order. Other
chains are shown by their full name: bursar:server is the server's own, with
what happened to tokens, keys and logins; sessions, keys of the gateway and
connections of MCP have one each, named as their budget is.

Flags:
  --full             whole links; otherwise they are cut to the line, and what
                     was expected, saved or chosen is told in a sentence
  --quiet            its head alone, as \`bursar verify --head\` takes it
${COMMON_HELP}

With --json each link is a line, exactly as it was hashed: \`bursar verify\`
needs no more than that.

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar chain 0194a2
  bursar chain 0194a2 --json > run.jsonl && bursar verify run.jsonl
  bursar chain bursar:server
`,
  word: "the run whose chain to show, or the name of a chain",
  flags: { full: { type: "boolean" }, ...QUIET },
  run: print,
};

export function chain(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function print({ word, flags, terminal, style }: Chore): Promise<Done> {
  const { pour, signal } = terminal;
  await using place = await openPlace(flags, terminal);
  const chain = await findChain(place.store, word);
  if (flags.quiet === true && flags.json !== true) {
    const head = await place.store.head(chain);
    return { report: null, text: head === null ? "" : `${head.chain}:${head.seq}:${head.hash}\n` };
  }
  const columns = flags.full === true ? Number.POSITIVE_INFINITY : terminal.columns();
  for await (const line of place.store.chain(chain)) {
    signal.throwIfAborted();
    await pour(flags.json === true ? `${line}\n` : linkText(parseLine(line), columns, style, flags.full === true));
  }
  return { report: null, text: "" };
}
