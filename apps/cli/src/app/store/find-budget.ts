import { type Document, readRun, type Store, sessionBudget } from "bursar";
import { nearest } from "bursar/nearest";
import { CommandError } from "../errors.js";
import { only, runBy, shownWord } from "./find-run.js";

/** So many of the latest runs and keys are looked at for the budgets that they belong to. */
const MOST_SEEN = 500;

/** The budget that is meant: a run's by the run, any other by its own id, or by the beginning of one that is known. */
export async function findBudget(store: Store, word: string): Promise<string> {
  const run = await store.document("run", word);
  if (run !== null) return readRun(run).budget;
  if ((await store.budget(word)) !== null) return word;
  const known = await knownBudgets(store);
  const beginning = known.filter((id) => id.startsWith(word)).map((id) => ({ id, budget: id }));
  const begun = await runBy(store, word);
  const found = only([...beginning, ...(begun === null ? [] : [begun])], "run or budget", word);
  if (found !== null) return found.budget;
  const guess = nearest(word, [...known, ...(await latestRuns(store)).map(({ id }) => id)]);
  const help = guess === null ? "`bursar runs` and `bursar keys` list them" : `did you mean ${guess}?`;
  throw new CommandError(`there is no run or budget ${shownWord(word)}; ${help}`);
}

/** The budgets of sessions and keys, and those above them. A store has no list of all budgets, and most are those of runs. */
export async function knownBudgets(store: Store): Promise<readonly string[]> {
  const payers = new Set<string>();
  for (const { body } of await latestRuns(store)) {
    if (typeof body.session === "string") payers.add(sessionBudget(body.session));
  }
  for await (const { budget } of store.latest("key", { limit: MOST_SEEN, only: [] })) {
    if (budget !== null) payers.add(budget);
  }
  const known = new Set<string>();
  for (const payer of payers) {
    for (const { id } of await store.path(payer)) known.add(id);
  }
  return [...known];
}

async function latestRuns(store: Store): Promise<readonly Document[]> {
  const runs: Document[] = [];
  for await (const run of store.latest("run", { limit: MOST_SEEN, only: ["session"] })) runs.push(run);
  return runs;
}
