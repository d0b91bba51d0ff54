import { nearest } from "bursar";
import {
  type Authority,
  type AuthorityRefusal,
  type BudgetFlag,
  ConfigError,
  type Configuration,
  type EffectiveBudget,
  effectiveBudget,
  loadConfig,
  readBudgetFlag,
  type SessionInput,
} from "bursar/config";
import { configReport } from "../app/config-report.js";
import { UsageError, unknown } from "../app/errors.js";
import { understood } from "../arguments/policy-flag.js";
import { checkSession } from "../arguments/run-terms.js";
import type { Style } from "../render/style.js";
import { ignoredLines } from "./common/config-notice.js";
import { budgetReport, budgetText } from "./config-table.js";
import { COMMON_HELP, type ConfigChore, type ConfigCommand, checkStore, type Done, type Given } from "./config-work.js";

export const show: ConfigCommand = {
  help: `Usage: bursar config show [flags]

What a run gets: every limit, what happens when it is reached, and who says
so.

Flags:
  --policy <name>     the policy; else the agent's, else the default one
  --agent <name>      as which agent
  --budget <limits>   what whoever starts the run asks for, such as
                      cost_usd=0.50,steps=20,wall_clock=60s,llm_tokens=null
  --session <name>    in which session; or its limits, such as steps=200
  --authority <who>   who starts the run: operator (the default), or agent,
                      which may only tighten
${COMMON_HELP}

Exit codes: 0 done, 1 what was asked for is refused, or something is wrong
with the file, 2 not understood

Examples:
  bursar config show
  bursar config show --policy strict
  bursar config show --agent researcher --budget cost_usd=0.50,steps=20
  bursar config show --json | jq '.dimensions[] | select(.limit != null)'
`,
  flags: {
    policy: { type: "string" },
    agent: { type: "string" },
    budget: { type: "string" },
    session: { type: "string" },
    authority: { type: "string" },
  },
  run({ file, flags, terminal, style }: ConfigChore): Done {
    const { config } = loadConfig(file, { env: terminal.env, checkStore });
    const answer = understood(
      effectiveBudget({
        config,
        policy: flags.policy,
        agent: flags.agent,
        session: sessionOf(flags.session),
        override: flags.budget === undefined ? undefined : limitsOf(flags.budget, "--budget"),
        authority: authorityOf(flags.authority),
      }),
    );
    if (answer.kind === "refused") return refused(answer.refusals, style);
    return shown(config, answer.budget, flags, terminal.columns(), style);
  },
};

/** A name, or limits: no name has a = in it. */
function sessionOf(text: string | undefined): string | SessionInput | null {
  if (text === undefined) return null;
  if (text.includes("=")) return { name: "as given", limits: limitsOf(text, "--session").limits };
  checkSession(text);
  return text;
}

/** A flag that is no limits is a command line that was not understood. */
function limitsOf(text: string, flag: string): BudgetFlag {
  try {
    return readBudgetFlag(text, { flag });
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

const AUTHORITIES: readonly Authority[] = ["operator", "agent"];

function authorityOf(word = "operator"): Authority {
  const found = AUTHORITIES.find((each) => each === word);
  if (found === undefined) throw new UsageError(unknown(`the authority ${word}`, word, AUTHORITIES));
  return found;
}

function refused(refusals: readonly AuthorityRefusal[], style: Style): Done {
  const text = refusals.map(({ message }) => `${style.bad("refused")} ${message}\n`).join("");
  return { report: { ok: false, refusals }, text, code: 1 };
}

function shown(config: Configuration, budget: EffectiveBudget, flags: Given, columns: number, style: Style): Done {
  const notes = [
    strange("agent", flags.agent, [...config.agents.keys()]),
    flags.session?.includes("=") ? null : strange("session", flags.session, [...config.sessions.keys()]),
  ].filter((note) => note !== null);
  const told = notes.map((note) => `${style.warn("note")} ${note}\n`).join("");
  const warnings = ignoredLines(config, Number.POSITIVE_INFINITY).map((line) => `${style.warn("warning")} ${line}\n`);
  const report = { ok: true, ...configReport(config), ...budgetReport(budget), notes };
  return { report, text: `${budgetText(config, budget, columns, style)}${warnings.join("")}${told}` };
}

/** Agents and sessions need not be in the file, but a name that is almost there is most likely a typo. */
function strange(what: string, name: string | undefined, known: readonly string[]): string | null {
  if (name === undefined || known.includes(name)) return null;
  const guess = nearest(name, known);
  return `the file says nothing of the ${what} ${name}${guess === null ? "" : `; did you mean ${guess}?`}`;
}
