import { type BudgetPolicies, Gate, InputError, type Store, sessionBudget } from "bursar";
import { Keys } from "bursar/gateway";
import { CommandError, UsageError } from "../app/errors.js";
import { readSpan } from "../arguments/read-span.js";
import { COMMON_HELP, type Given, limitsOf, pairsOf, principalOf, QUIET, textOf } from "../arguments/run-flags.js";
import { harmless } from "../render/style.js";
import { configOf, isKept, makePlace } from "./common/place.js";
import type { Chore, Done, RunsCommand } from "./common/run-command.js";

const LONGEST_LABEL = 200;

export const CREATE: RunsCommand = {
  help: `Usage: bursar keys create [flags]

Makes a key for a budget: one that is there, or a new one. Its secret is shown
once and kept nowhere; who loses it rotates the key.

Flags:
  --label <text>     what people call it, such as who has it
  --budget <id>      the budget that pays for what is asked with it, or
  --limits <..>      a new one with these limits, as cost_usd=10,steps=1000.
                     Only what is named is limited
  --policies <..>    what happens when it is used up, as
                     cost_usd=approval_required; else a hard stop, and for
                     llm_tokens a request for approval
  --session <id>     the session that pays: itself, or with --limits a part
  --expires <time>   how long it is taken, as 30d or 12h; else until revoked
  --quiet            the secret alone
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar keys create --label alice --limits cost_usd=10
  bursar keys create --label ci --limits cost_usd=2 --expires 30d --json
  bursar keys create --label bob --limits cost_usd=5 --session team-a \\
    --policies cost_usd=approval_required
`,
  flags: {
    label: { type: "string" },
    budget: { type: "string" },
    limits: { type: "string" },
    policies: { type: "string" },
    session: { type: "string" },
    expires: { type: "string" },
    ...QUIET,
  },
  waits: "opening the store",
  run: create,
};

async function create({ flags, terminal, style }: Chore): Promise<Done> {
  const wish = readWish(flags);
  const config = configOf(flags, terminal);
  if (!isKept(flags, config, terminal)) {
    throw new UsageError("a memory: store ends with this command, and the key with it; name another with --store");
  }
  await using place = await makePlace(flags, config, terminal);
  const { store } = place;
  const { instant } = store.clock.now();
  const budget = await budgetFor(store, wish);
  const { key, secret } = await new Keys(store).create({
    budget,
    label: wish.label,
    by: principalOf(flags).name,
    expires: wish.expires_ms === null ? null : new Date(instant + wish.expires_ms),
  });
  const text = [
    `${style.good("✓ made")}  key ${key.id}${wish.label === "" ? "" : `, ${harmless(wish.label)}`}, for budget ${harmless(budget)}`,
    "",
    `  ${style.bold(secret)}`,
    "",
    style.dim("  It is shown this once. Whoever has it spends what the budget has."),
  ];
  return { report: { ok: true, key, secret }, text: `${text.join("\n")}\n`, brief: `${secret}\n` };
}

interface Wish {
  readonly label: string;
  readonly budget: string | null;
  readonly session: string | null;
  readonly limits: Readonly<Record<string, number | null>> | null;
  readonly policies: BudgetPolicies;
  readonly expires_ms: number | null;
}

function readWish(flags: Given): Wish {
  const label = textOf(flags, "label") ?? "";
  const budget = textOf(flags, "budget") ?? null;
  const session = textOf(flags, "session") ?? null;
  const limits = textOf(flags, "limits");
  const policies = textOf(flags, "policies");
  const expires = textOf(flags, "expires");
  if (label.length > LONGEST_LABEL)
    throw new UsageError(`--label is longer than ${LONGEST_LABEL} characters; shorten it`);
  if (budget !== null && (limits !== undefined || session !== null)) {
    throw new UsageError("--budget names one that is there; leave --limits and --session out, or --budget");
  }
  if (budget === null && limits === undefined && session === null) {
    throw new UsageError("who pays is missing: give --limits cost_usd=10, or --budget or --session with what is there");
  }
  if (policies !== undefined && limits === undefined) throw new UsageError("--policies says nothing without --limits");
  const expires_ms = expires === undefined ? null : readSpan(expires);
  if (expires !== undefined && (expires_ms === null || expires_ms === 0)) {
    throw new UsageError(`--expires is ${expires.slice(0, 40)}; allowed: a time such as 30d, 12h or 90m`);
  }
  return {
    label,
    budget,
    session,
    expires_ms,
    limits: limits === undefined ? null : limitsOf(limits, "--limits"),
    policies: policies === undefined ? {} : (pairsOf(policies, "--policies") as BudgetPolicies),
  };
}

/** The budget that is there, or a new one. */
async function budgetFor(store: Store, { budget, session, limits, policies }: Wish): Promise<string> {
  const named = budget ?? (session === null ? null : sessionBudget(session));
  if (named !== null) {
    const found = await store.budget(named);
    const what = budget === null ? `session ${session}` : `budget ${budget}`;
    if (found === null) throw new CommandError(`there is no ${harmless(what)} in this store`);
    if (found.ended) throw new CommandError(`${harmless(what)} has ended, and pays for nothing any more`);
  }
  if (limits === null) return named ?? "";
  using gate = new Gate({ store });
  const id = `key-${globalThis.crypto.randomUUID()}`;
  try {
    const parent = named === null ? {} : { parent: named };
    const { budget: opened } = await gate.open(id, { limits, policies, scope: "shared", ...parent });
    if (opened === null) {
      const how = `\`bursar extend ${named} --add …\` adds to it`;
      throw new CommandError(harmless(`session ${session} takes no further budgets: it is exhausted; ${how}`));
    }
  } catch (error) {
    throw error instanceof InputError ? new UsageError(`--limits: ${error.message}`) : error;
  }
  return id;
}
