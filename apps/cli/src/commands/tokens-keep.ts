import { type Token, Tokens } from "bursar/server";
import { UsageError } from "../app/errors.js";
import { onlyId } from "../app/store/only-id.js";
import { COMMON_HELP, IDS_HELP, principalOf, QUIET } from "../arguments/run-flags.js";
import { spanLeft } from "../render/quantities.js";
import { clip, harmless, pad, type Style } from "../render/style.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, listed, type RunsCommand } from "./common/run-command.js";

const CODES = "Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted";
const STATUS_COLUMNS = 10;
const ID_COLUMNS = 18;
const ROLE_COLUMNS = 10;

export const LIST: RunsCommand = {
  help: `Usage: bursar tokens list [flags]

All tokens, also those that were revoked, oldest first.

Flags:
${IDS_HELP}
${COMMON_HELP}

${CODES}

Examples:
  bursar tokens
  bursar tokens --json | jq -r '.tokens[] | select(.role == "admin") | .name'
`,
  flags: QUIET,
  waits: "reading the store",
  run: list,
};

export const REVOKE: RunsCommand = {
  help: `Usage: bursar tokens revoke <token> [flags]

From now on nothing is done with it; a server that runs hears of it with the
next request.

Flags:
  --as <name>        who revokes it; else the user's name
  --quiet            nothing but the exit code, and what fails
${COMMON_HELP}

Ids may be given by any unambiguous beginning.

${CODES}

Examples:
  bursar tokens revoke 3f9c
`,
  word: "the token to revoke",
  flags: { as: { type: "string" }, ...QUIET },
  waits: "reading the store",
  run: revoke,
};

async function list({ flags, terminal, style }: Chore): Promise<Done> {
  await using place = await openPlace(flags, terminal);
  const tokens = await new Tokens(place.store).list();
  const now = place.store.clock.now().instant;
  const lines = tokens.map((token) => clip(line(token, now, style), terminal.columns()));
  const none = style.dim("no tokens; `bursar tokens create --name ann --role operator` makes one");
  const text = lines.length === 0 ? `${none}\n` : listed(lines);
  return { report: { tokens }, text, brief: listed(tokens.map(({ id }) => id)) };
}

function line({ id, status, name, role, expires }: Token, now: number, style: Style): string {
  const isOver = expires !== null && expires <= now;
  const [said, paint] =
    status === "revoked" ? [status, style.bad] : isOver ? ["expired", style.warn] : [status, style.good];
  const note =
    status === "active" && expires !== null && !isOver ? style.dim(`  expires in ${spanLeft(expires - now)}`) : "";
  return `${paint(pad(said, STATUS_COLUMNS))}${pad(id, ID_COLUMNS)}${pad(role, ROLE_COLUMNS)}${harmless(name)}${note}`;
}

async function revoke({ word, flags, terminal, style }: Chore): Promise<Done> {
  if (word.startsWith("bursar_")) {
    throw new UsageError(
      "that is the secret of a token, which should stand in no command line; give its id, see bursar tokens",
    );
  }
  const { name: by } = principalOf(flags);
  await using place = await openPlace(flags, terminal);
  const tokens = new Tokens(place.store);
  const ids = (await tokens.list()).map(({ id }) => id);
  const token = await tokens.revoke(onlyId(ids, word, { what: "token", command: "bursar tokens" }), by);
  const text = `${style.good("✓ revoked")}  token ${token.id}, ${token.role} ${harmless(token.name)}\n`;
  return { report: { ok: true, token }, text, brief: "" };
}
