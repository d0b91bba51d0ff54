import { type GatewayKey, Keys } from "bursar/gateway";
import { keyViews, type PaidView } from "bursar/views";
import { UsageError } from "../app/errors.js";
import { onlyId } from "../app/store/only-id.js";
import { readSpan } from "../arguments/read-span.js";
import { COMMON_HELP, IDS_HELP, principalOf, QUIET, textOf } from "../arguments/run-flags.js";
import { dimensionLines } from "../render/dimension-lines.js";
import { span, spanLeft } from "../render/quantities.js";
import { runFigure, runFigures } from "../render/run-figures.js";
import { clip, fitted, harmless, pad, type Style } from "../render/style.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, listed, type RunsCommand } from "./common/run-command.js";

const CODES = "Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted";
const LABEL_COLUMNS = 18;
const ID_COLUMNS = 18;
const STATUS_COLUMNS = 10;
const INDENT = " ".repeat(STATUS_COLUMNS);

export const LIST: RunsCommand = {
  help: `Usage: bursar keys list [flags]

All keys, also those that were revoked, oldest first; below each, what its
budget has used, what is held for calls under way behind a +, and its limits;
and what it has saved, where calls were answered otherwise or could wait.

Flags:
${IDS_HELP}
${COMMON_HELP}

${CODES}

Examples:
  bursar keys
  bursar keys list --json | jq -r '.keys[] | select(.status == "active") | .id'
`,
  flags: QUIET,
  waits: "reading the store",
  run: list,
};

export const ROTATE: RunsCommand = {
  help: `Usage: bursar keys rotate <key> [flags]

Gives a key a new secret, which is shown once. The one before is taken for a
while longer, so that clients can be changed one by one; the one before that is
taken no more.

Flags:
  --grace <time>     how long the old secret is still taken, as 1h; 0s for not
                     at all, a day unless said otherwise
  --quiet            the secret alone
${COMMON_HELP}

Ids may be given by any unambiguous beginning.

${CODES}

Examples:
  bursar keys rotate 3f9c --grace 1h
  bursar keys rotate 3f9c --grace 0s --json
`,
  word: "the key to rotate",
  flags: { grace: { type: "string" }, ...QUIET },
  waits: "reading the store",
  run: rotate,
};

export const REVOKE: RunsCommand = {
  help: `Usage: bursar keys revoke <key> [flags]

From now on nothing is asked with it, with none of its secrets; a gateway that
runs hears of it within a second. What is under way comes to its end. Its budget
stays as it is.

Flags:
  --quiet            nothing but the exit code, and what fails
${COMMON_HELP}

Ids may be given by any unambiguous beginning.

${CODES}

Examples:
  bursar keys revoke 3f9c
`,
  word: "the key to revoke",
  flags: QUIET,
  waits: "reading the store",
  run: revoke,
};

async function list({ flags, terminal, style }: Chore): Promise<Done> {
  await using place = await openPlace(flags, terminal);
  const all = await new Keys(place.store).list();
  const brief = listed(all.map(({ id }) => id));
  // What was saved is summed up from chains, which may be long; who wants the ids alone does not wait for that.
  if (flags.quiet === true && flags.json !== true) return { report: null, text: brief };
  const keys = await keyViews(place.store, all);
  const now = place.store.clock.now().instant;
  const columns = terminal.columns();
  const lines = keys.flatMap((key) => [line(key, now, columns, style), ...amountLines(key, columns, style)]);
  const none = style.dim("no keys; `bursar keys create --limits cost_usd=5` makes one");
  const text = lines.length === 0 ? `${none}\n` : listed(lines);
  return { report: { keys }, text, brief };
}

/** Where each limit of its budget stands, or without any what it has used; and what it has saved, if that is something. */
function amountLines(view: PaidView, columns: number, style: Style): readonly string[] {
  const lines = standing(view, columns, style);
  if (view.saved_usd === 0) return lines;
  return [...lines, clip(`${INDENT}${style.good(`saved ${runFigure("cost_usd", view.saved_usd)}`)}`, columns)];
}

function standing({ dimensions, usage }: PaidView, columns: number, style: Style): readonly string[] {
  const lines = dimensionLines(dimensions, columns - INDENT.length, style);
  if (lines.length > 0) return lines.map((each) => `${INDENT}${each}`);
  const used = Object.fromEntries(Object.entries(usage).filter(([, amount]) => amount !== 0));
  // A clock that nobody has limited runs anyway.
  const figures = runFigures(used, ["wall_clock_ms"]);
  return [clip(`${INDENT}${style.dim(`${figures || "nothing used"}, no limit of its own`)}`, columns)];
}

function line(key: GatewayKey, now: number, columns: number, style: Style): string {
  const { status, paint } = statusOf(key, now, style);
  const parts = [
    paint(pad(status, STATUS_COLUMNS)),
    pad(key.id, ID_COLUMNS),
    pad(`${fitted(harmless(key.label), LABEL_COLUMNS - 2, columns)}  `, LABEL_COLUMNS),
    harmless(key.budget),
    ...notes(key, now).map((note) => style.dim(`  ${note}`)),
  ];
  return clip(parts.join(""), columns);
}

function statusOf({ status, expires }: GatewayKey, now: number, style: Style) {
  if (status === "revoked") return { status, paint: style.bad };
  if (expires !== null && expires <= now) return { status: "expired", paint: style.warn };
  return { status, paint: style.good };
}

function notes({ status, expires, rotating_until }: GatewayKey, now: number): readonly string[] {
  if (status === "revoked") return [];
  return [
    ...(expires !== null && expires > now ? [`expires in ${spanLeft(expires - now)}`] : []),
    ...(rotating_until !== null && rotating_until > now ? [`old secret for ${spanLeft(rotating_until - now)}`] : []),
  ];
}

async function rotate({ word, flags, terminal, style }: Chore): Promise<Done> {
  const grace = textOf(flags, "grace") ?? "1d";
  const grace_ms = readSpan(grace);
  if (grace_ms === null) {
    throw new UsageError(`--grace is ${grace.slice(0, 40)}; allowed: a time such as 1h, 2d or 0s`);
  }
  await using place = await openPlace(flags, terminal);
  const keys = new Keys(place.store);
  const { key, secret } = await keys.rotate(await idOf(keys, word), { grace_ms, by: principalOf(flags).name });
  const old = grace_ms === 0 ? "The old one is taken no more" : `The old one is taken for ${span(grace_ms)} more`;
  const text = [
    `${style.good("✓ rotated")}  key ${key.id}${key.label === "" ? "" : `, ${harmless(key.label)}`}`,
    "",
    `  ${style.bold(secret)}`,
    "",
    style.dim(`  It is shown this once. ${old}.`),
  ];
  return { report: { ok: true, key, secret }, text: `${text.join("\n")}\n`, brief: `${secret}\n` };
}

async function revoke({ word, flags, terminal, style }: Chore): Promise<Done> {
  await using place = await openPlace(flags, terminal);
  const keys = new Keys(place.store);
  const key = await keys.revoke(await idOf(keys, word), principalOf(flags).name);
  const label = key.label === "" ? "" : `, ${harmless(key.label)}`;
  const text = `${style.good("✓ revoked")}  key ${key.id}${label}\n`;
  return { report: { ok: true, key }, text, brief: "" };
}

/** The key with this id, or the only one whose id begins so. */
async function idOf(keys: Keys, word: string): Promise<string> {
  if (word.startsWith("bursar_")) {
    throw new UsageError(
      "that is the secret of a key, which should stand in no command line; give its id, see bursar keys",
    );
  }
  const ids = (await keys.list()).map(({ id }) => id);
  return onlyId(ids, word, { what: "key", command: "bursar keys" });
}
