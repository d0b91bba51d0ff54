import { shown, UsageError } from "../app/errors.js";
import { readSpan } from "../arguments/read-span.js";
import { bytes, counted, number } from "../render/quantities.js";
import { facts } from "../render/report.js";
import { COMMON_HELP, type StoreCommand } from "./store-work.js";

export const migrate: StoreCommand = {
  help: `Usage: bursar store migrate [flags]

Brings the tables of a store up to date, or makes them. Opening a store does
the same by itself; this command is for doing it at a time of your choice.

Flags:
  --check          change nothing; exit code 1 when there is something to do
${COMMON_HELP}

Exit codes: 0 up to date, 1 not up to date or failed, 2 not understood

Examples:
  bursar store migrate --check
  bursar store migrate --store postgres://bursar@localhost/bursar
`,
  flags: { check: { type: "boolean" } },
  async run({ housekeeping, flags, style }) {
    const report = await housekeeping.migrate({ dry: flags.check === true });
    const { where, before, after, known } = report;
    const ok = after === known;
    const what =
      before > known
        ? `version ${before} is newer than ${known}, which this Bursar has: install a newer one`
        : before === after
          ? `version ${after}${ok ? ", up to date" : `, this Bursar has ${known}: run it without --check`}`
          : `from version ${before} to ${after}`;
    const pairs = [["store", where] as const, ["schema", what] as const];
    return { report: { ok, ...report }, text: facts(pairs, style), code: ok ? 0 : 1 };
  },
};

export const vacuum: StoreCommand = {
  help: `Usage: bursar store vacuum [flags]

Gives room back that nothing needs any more, and lets the engine learn how its
tables look. Others have to wait for a moment when they write.

Flags:
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood

Examples:
  bursar store vacuum --store sqlite:bursar.db
`,
  async run({ housekeeping, style }) {
    const report = await housekeeping.vacuum();
    const { where, bytesBefore, bytesAfter } = report;
    const pairs = [
      ["store", where] as const,
      ["size", `${bytes(bytesBefore)} before, ${bytes(bytesAfter)} now`] as const,
    ];
    return { report: { ok: true, ...report }, text: facts(pairs, style) };
  },
};

export const backup: StoreCommand = {
  help: `Usage: bursar store backup <file> [flags]

Copies a SQLite store of one moment into a new file, while others go on
writing. The copy is checked before it gets its name, so a file that is there
is a sound backup. It is a store itself: open it with --store sqlite:<file>.
For PostgreSQL use pg_dump, or \`bursar store export\`.

Flags:
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar store backup bursar-$(date +%F).db
`,
  word: "the file to write",
  async run({ housekeeping, word, options, style }) {
    const report = await housekeeping.backup(word, options);
    const { links, budgets } = report.check;
    const pairs = [
      ["backup", report.file] as const,
      ["size", bytes(report.bytes)] as const,
      ["checked", `${counted(links, "link")}, ${counted(budgets, "budget")}: sound`] as const,
    ];
    return { report: { ok: true, ...report }, text: facts(pairs, style) };
  },
};

export const archive: StoreCommand = {
  help: `Usage: bursar store archive <folder> --older <span> [flags]

Moves chains whose budgets have all ended, and whose last link is older than
the span, to files of their own: one <name>.jsonl a chain. Their links, calls
and journal entries leave the store; budgets, final figures and heads stay, and
every file can be verified against the store for ever.

Flags:
  --older <span>   30d, 12h, 8w and the like
  --dry-run        only tell what would be archived
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar store archive archive --older 30d --dry-run
  bursar store archive archive --older 90d && bursar store vacuum
  bursar store check --archive archive
`,
  word: "the folder for the files",
  flags: { older: { type: "string" }, "dry-run": { type: "boolean" } },
  async run({ housekeeping, word, flags, options, style }) {
    const { older } = flags;
    if (typeof older !== "string") throw new UsageError("--older is missing; say how old a chain has to be, as in 30d");
    const older_ms = readSpan(older);
    if (older_ms === null)
      throw new UsageError(`--older is "${shown(older)}"; allowed: a number and s, m, h, d or w, as in 30d`);
    const dry = flags["dry-run"] === true;
    const report = await housekeeping.archive({ ...options, folder: word, older_ms, dry });
    const { archived, skipped } = report;
    const links = archived.reduce((sum, chain) => sum + chain.links, 0);
    const files = archived.map(
      ({ chain, links: each, file }) => ["", `${chain} (${counted(each, "link")}): ${file}`] as const,
    );
    const pairs = [
      [dry ? "would move" : "archived", `${counted(archived.length, "chain")} with ${counted(links, "link")}`] as const,
      ...(archived.length === 0 ? [] : [["to", word] as const]),
      ...files.slice(0, MOST_LISTED),
      ...(files.length > MOST_LISTED ? [["", `and ${number(files.length - MOST_LISTED)} more`] as const] : []),
      ...(skipped.length === 0
        ? []
        : [["left alone", `${counted(skipped.length, "chain")}, written to meanwhile`] as const]),
    ];
    return { report: { ok: true, dry, ...report }, text: facts(pairs, style) };
  },
};

const MOST_LISTED = 20;
