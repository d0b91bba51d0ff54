import { readRun, type Store } from "bursar";
import { type BudgetView, budgetView } from "bursar/views";
import { UsageError } from "../app/errors.js";
import { openDeciding } from "../app/runs/open-deciding.js";
import { findBudget } from "../app/store/find-budget.js";
import { amountsOf, COMMON_HELP, principalOf, QUIET, textOf } from "../arguments/run-flags.js";
import { dimensionLines } from "../render/dimension-lines.js";
import { runFigures } from "../render/run-figures.js";
import { harmless, type Style } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, listed, type RunsCommand, runsCommand } from "./common/run-command.js";

const INDENT = "  ";

const COMMAND: RunsCommand = {
  help: `Usage: bursar extend <run | budget> [flags]

Adds to a budget without being asked: to that of a run, of a session
(session:<name>), of a tenant (session:tenant:<name>), or of a key of the
gateway, as \`bursar keys\` names it. All or nothing is added, and the budgets
above need room for it. Who did it, and why, stands in the budget's chain.

Flags:
  --add <amounts>    what to add, as cost_usd=0.5,steps=10
  --reason <text>    why, for the record
  --as <name>        who extends; else the user's name
  --quiet            nothing but the exit code, and what fails
${COMMON_HELP}

Ids may be given by any unambiguous beginning. A run that has paused goes on
with \`bursar resume\`.

Exit codes: 0 it is extended, 1 a budget above has no room, or the command
failed, 2 not understood, 130 interrupted

Examples:
  bursar extend nightly --add steps=20
  bursar extend session:team --add cost_usd=0.5 --reason "one more report"
  bursar extend key-0194a2 --add cost_usd=5,llm_tokens=100000 --json
`,
  word: "the run or budget to extend",
  flags: { add: { type: "string" }, reason: { type: "string" }, as: { type: "string" }, ...QUIET },
  run: add,
};

export function extend(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function add({ word, flags, terminal, style }: Chore): Promise<Done> {
  const by = principalOf(flags);
  const amounts = textOf(flags, "add");
  if (amounts === undefined) throw new UsageError("what to add is missing: give --add cost_usd=0.5");
  const added = amountsOf(amounts, "--add");
  const reason = textOf(flags, "reason") ?? null;
  await using place = await openPlace(flags, terminal);
  const { store } = place;
  const budget = await findBudget(store, word);
  await using bursar = openDeciding(place, terminal);
  await bursar.extend(budget, added, { by, reason });
  const view = await budgetView(store, budget);
  const lines = [
    `${style.good("✓ extended")}  budget ${harmless(budget)}: ${runFigures(added)} more`,
    ...standing(view, Object.keys(added), terminal.columns(), style),
    ...(await whatNext(store, budget)).map((line) => style.dim(`${INDENT}${line}`)),
  ];
  return { report: { ok: true, ...view, added, by: by.name, reason }, text: listed(lines), brief: "" };
}

/** Where it stands now, as far as something was added. */
function standing(view: BudgetView | null, added: readonly string[], columns: number, style: Style): readonly string[] {
  const shown = view?.dimensions.filter(({ dimension }) => added.includes(dimension)) ?? [];
  return dimensionLines(shown, columns - INDENT.length, style).map((line) => `${INDENT}${line}`);
}

/** A run that stands still does not notice by itself. */
async function whatNext(store: Store, budget: string): Promise<readonly string[]> {
  const document = await store.document("run", budget);
  const run = document === null ? null : readRun(document);
  if (run?.status !== "paused") return [];
  return [`it has paused; \`bursar resume ${harmless(run.id)}\` lets it go on`];
}
