import { createReadStream, statSync } from "node:fs";
import type { Chunks, ExportReport, WorkOptions } from "bursar/store";
import { CommandError, shown, UsageError } from "../app/errors.js";
import { counted } from "../render/quantities.js";
import { facts } from "../render/report.js";
import type { Terminal } from "../terminal/terminal.js";
import { COMMON_HELP, type StoreCommand } from "./store-work.js";

const STREAM = "-";

export const exportStore: StoreCommand = {
  help: `Usage: bursar store export <file> [flags]

Writes everything in a store, of one moment, to a new file of JSON lines; - is
standard output. The last line has the number of rows and a SHA-256, so that
\`bursar store import\` can tell whether the file is whole.

Flags:
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar store export bursar.jsonl
  bursar store export - --store sqlite:bursar.db | gzip > bursar.jsonl.gz
`,
  word: "the file to write (or -)",
  async run({ housekeeping, word, flags, options, terminal, style }) {
    if (word === STREAM) {
      if (flags.json)
        throw new UsageError("--json and - exclude each other: the last line of the export is its report");
      await housekeeping.export(terminal.pour, options);
      return { report: {}, text: "" };
    }
    const trailer = await housekeeping.exportFile(word, options);
    const pairs = [["exported to", word] as const, ...rows(trailer), ["SHA-256", trailer.sha256] as const];
    return { report: { ok: true, file: word, ...trailer }, text: facts(pairs, style) };
  },
};

export const importStore: StoreCommand = {
  help: `Usage: bursar store import <file> [flags]

Reads what \`bursar store export\` wrote into an empty store, or one that is not
there yet, of either engine; - is standard input. Everything is verified first.
It is kept as a whole, or nothing of it is.

Flags:
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar store import bursar.jsonl --store postgres://bursar@localhost/bursar
  gunzip -c bursar.jsonl.gz | bursar store import - --store sqlite:new.db
`,
  word: "the file to read (or -)",
  async run({ housekeeping, word, options, terminal, style }) {
    const { chunks, total } = open(word, terminal);
    const trailer = await housekeeping.import(counting(chunks, total, options), {
      ...options,
      progress: (each) => (each.what === "rows" ? undefined : options.progress(each)),
    });
    const pairs = [["imported", "every chain verified, all books add up"] as const, ...rows(trailer)];
    return { report: { ok: true, ...trailer }, text: facts(pairs, style) };
  },
};

function open(word: string, { input }: Terminal): { readonly chunks: Chunks; readonly total: number } {
  if (word === STREAM) {
    if (input === null) throw new UsageError("nothing is piped in; name a file, or pipe an export into this command");
    return { chunks: input, total: 0 };
  }
  return openFile(word);
}

/** A file to be read from its beginning, and how long it is. */
export function openFile(path: string): { readonly chunks: AsyncIterable<Uint8Array>; readonly total: number } {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new CommandError(`${shown(path)} is not there; name the file to read`);
  if (stats.isDirectory()) throw new CommandError(`${path} is a folder; name a file in it`);
  return { chunks: reading(path), total: stats.size };
}

async function* reading(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path);
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Passes everything on, and tells how much of it has gone by. */
export async function* counting(
  chunks: Chunks,
  total: number,
  { progress, signal }: Required<WorkOptions>,
): AsyncGenerator<string | Uint8Array> {
  let done = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    done += chunk.length;
    progress({ what: "bytes", done, total });
    yield chunk;
  }
}

/** Links are packed: one row holds several of a chain. */
function rows({ counts, links }: ExportReport): readonly (readonly [string, string])[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([table, count]) => {
      const held = table === "links" ? ` holding ${counted(links, "link")}` : "";
      return [table, `${counted(count, "row")}${held}`] as const;
    });
}
