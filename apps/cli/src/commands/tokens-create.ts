import { InputError } from "bursar";
import { ROLES, type Role, Tokens } from "bursar/server";
import { UsageError, unknown } from "../app/errors.js";
import { readSpan } from "../arguments/read-span.js";
import { COMMON_HELP, type Given, principalOf, QUIET, textOf } from "../arguments/run-flags.js";
import { harmless } from "../render/style.js";
import { configOf, isKept, makePlace } from "./common/place.js";
import type { Chore, Done, RunsCommand } from "./common/run-command.js";

export const CREATE: RunsCommand = {
  help: `Usage: bursar tokens create --name <name> --role <role> [flags]

Makes a token for the server. Its secret is shown once and kept nowhere; who
loses it gets a new one. What is done with it is recorded under its name.

Flags:
  --name <name>      who shows it; each name has one token at a time
  --role <role>      viewer, agent, operator or admin
  --expires <time>   how long it is taken, as 30d or 12h; else until revoked
  --as <name>        who makes it; else the user's name
  --quiet            the secret alone
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar tokens create --name ann --role operator
  bursar tokens create --name dashboard --role viewer --expires 90d --json
`,
  flags: {
    name: { type: "string" },
    role: { type: "string" },
    expires: { type: "string" },
    as: { type: "string" },
    ...QUIET,
  },
  waits: "opening the store",
  run: create,
};

async function create({ flags, terminal, style }: Chore): Promise<Done> {
  const { name, role, expires_ms } = readWish(flags);
  const { name: by } = principalOf(flags);
  const config = configOf(flags, terminal);
  if (!isKept(flags, config, terminal)) {
    throw new UsageError("a memory: store ends with this command, and the token with it; name another with --store");
  }
  await using place = await makePlace(flags, config, terminal);
  const { instant } = place.store.clock.now();
  const expires = expires_ms === null ? null : new Date(instant + expires_ms);
  const { token, secret } = await new Tokens(place.store)
    .create({ name, role, expires, by })
    .catch((error: unknown) => {
      throw error instanceof InputError ? new UsageError(`--${error.message}`) : error;
    });
  const text = [
    `${style.good("✓ made")}  token ${token.id}, ${role} ${harmless(name)}`,
    "",
    `  ${style.bold(secret)}`,
    "",
    style.dim("  It is shown this once. Whoever has it is taken for who it names."),
  ];
  return { report: { ok: true, token, secret }, text: `${text.join("\n")}\n`, brief: `${secret}\n` };
}

function readWish(flags: Given): { readonly name: string; readonly role: Role; readonly expires_ms: number | null } {
  const name = textOf(flags, "name");
  const role = textOf(flags, "role");
  const expires = textOf(flags, "expires");
  if (name === undefined) throw new UsageError("--name is missing: who shows the token?");
  if (role === undefined) throw new UsageError(`--role is missing; known: ${ROLES.join(", ")}`);
  if (!isRole(role)) throw new UsageError(unknown(`the role ${role.slice(0, 40)}`, role, ROLES));
  const expires_ms = expires === undefined ? null : readSpan(expires);
  if (expires !== undefined && (expires_ms === null || expires_ms === 0)) {
    throw new UsageError(`--expires is ${expires.slice(0, 40)}; allowed: a time such as 30d, 12h or 90m`);
  }
  return { name, role, expires_ms };
}

function isRole(word: string): word is Role {
  return (ROLES as readonly string[]).includes(word);
}
