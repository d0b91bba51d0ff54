import { writeAmount } from "bursar";
import { budgetsOf, childrenOf, readStory, runView } from "bursar/views";
import { needsOf } from "../app/programs/program-needs.js";
import { openLooking } from "../app/runs/missing-parts.js";
import { findRun } from "../app/store/find-run.js";
import { COMMON_HELP, QUIET } from "../arguments/run-flags.js";
import { pageText, type RunPage } from "../render/run-page.js";
import type { Terminal } from "../terminal/terminal.js";
import { openPlace } from "./common/place.js";
import { type Chore, type Done, type RunsCommand, runsCommand } from "./common/run-command.js";

const STEPS = 30;

const COMMAND: RunsCommand = {
  help: `Usage: bursar show <run> [flags]

All there is to see of a run: its budgets up to the outermost one, what it was
expected to take, its steps with what each has cost, what it waits for, what is
below it, and what it gave back.

Flags:
  --all              all steps, not the last ${STEPS} alone
  --quiet            its status alone, such as paused
${COMMON_HELP}

A run's id may be given by any unambiguous beginning.

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar show 0194a2
  bursar show nightly --json | jq '.steps[] | select(.state == "refused")'
`,
  word: "the run to show",
  flags: { all: { type: "boolean" }, ...QUIET },
  waits: "reading the store",
  run: look,
};

export function show(args: readonly string[], terminal: Terminal): Promise<number> {
  return runsCommand(COMMAND, args, terminal);
}

async function look({ word, flags, terminal, style }: Chore): Promise<Done> {
  await using place = await openPlace(flags, terminal);
  const { store } = place;
  const found = await findRun(store, word);
  await using looking = await openLooking(store, terminal, [found.id]);
  const { bursar } = looking;
  const { run, requests, result } = await bursar.resultWithRequests(found);
  const missing = await bursar.missingFor(run.id);
  const story = await readStory(store, run);
  const view = await runView(store, run.id);
  const page: RunPage = {
    run,
    interrupted: view?.interrupted ?? false,
    story,
    result,
    requests,
    budgets: await budgetsOf(store, run),
    children: await childrenOf(store, run, story),
    expected: view?.expected ?? [],
    outlook: view?.outlook ?? null,
    saved_usd: view?.saved_usd ?? 0,
    missing,
  };
  const most = flags.all === true ? Number.POSITIVE_INFINITY : STEPS;
  const sight = { now: store.clock.now().instant, columns: terminal.columns(), most };
  return { report: reportOf(page), text: pageText(page, sight, style), brief: `${run.status}\n` };
}

/** For programs, in edge units; nobody needs the source of what was run here. */
function reportOf(page: RunPage): object {
  const { run, interrupted, result, budgets, story, children, requests, expected, outlook, saved_usd, missing } = page;
  const { kind, name, digest } = run.program;
  const limits = budgets.map(({ budget, positions }) => ({
    budget,
    dimensions: positions.map(({ dimension, used, held, limit }) => {
      const edge = (amount: number) => writeAmount(dimension, amount);
      return { dimension: dimension.id, unit: dimension.unit, used: edge(used), held: edge(held), limit: edge(limit) };
    }),
  }));
  const { input, session, parent, depth, started_by, terms = {}, created, ended, pause, cancel } = run;
  return {
    ...result,
    interrupted,
    program: { kind, name, digest },
    input,
    session,
    parent,
    depth,
    started_by,
    terms,
    created,
    ended,
    pause,

    expected,
    outlook,
    saved_usd,
    missing,
    needs: needsOf(run.program)?.flags ?? [],
    cancel,
    budgets: limits,
    steps: story.steps,
    events: story.events,
    links: story.links,
    children: children.map(({ id, status }) => ({ id, status })),
    requests,
  };
}
