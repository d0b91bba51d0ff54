import {
  type ApprovalRequest,
  currentRequest,
  type Document,
  findNamed,
  isAnyStop,
  type RunRecord,
  readApproval,
  readRun,
  runOfCheckpoint,
  runWithRequests,
  type Store,
} from "bursar";
import { CommandError, shown } from "../errors.js";

/** So many are named when a beginning is ambiguous. */
const MOST_NAMED = 5;
const MOST_LISTED = 20;
const LONGEST_WORD = 300;

/** The run with this id, or the only one whose id begins so. */
export async function findRun(store: Store, word: string): Promise<RunRecord> {
  const run = await runBy(store, word);
  if (run !== null) return run;
  throw new CommandError(`there is no run ${shownWord(word)}; \`bursar runs\` lists them`);
}

/** The same, or null. */
export async function runBy(store: Store, word: string): Promise<RunRecord | null> {
  checkWord(word);
  const exact = await store.document("run", word);
  if (exact !== null) return readRun(exact);
  return only(await runsBeginning(store, word), "run", word);
}

/** The first runs whose ids begin so, one more than are named. Those below others are named after them: who means those says more. */
async function runsBeginning(store: Store, word: string): Promise<readonly RunRecord[]> {
  const found: RunRecord[] = [];
  let after = "";
  while (found.length <= MOST_NAMED) {
    const next = await firstOf(store.beginning("run", { prefix: word, after, limit: 1 }));
    if (next === null) break;
    const above = found.find(({ id }) => next.id.startsWith(`${id}.`));
    if (above === undefined) found.push(readRun(next));
    // However many there are below one, they are passed over at once: no id holds this character.
    after = above === undefined ? next.id : `${above.id}.\u{10ffff}`;
  }
  return found;
}

async function firstOf(documents: AsyncIterable<Document>): Promise<Document | null> {
  for await (const document of documents) return document;
  return null;
}

/** The request that is meant by its own id, its checkpoint's, or its run's; or by the beginning of one of these. */
export async function findRequest(store: Store, word: string): Promise<ApprovalRequest> {
  checkWord(word);
  const exact = await store.document("approval", word);
  if (exact !== null) return currentRequest(store, readApproval(exact));
  const named = runOfCheckpoint(word);
  // With a number it means one stop of the run, and no other.
  if (named !== null && !isAnyStop(word)) return findNamed(store, word);
  const requests = named === null ? await requestsBeginning(store, word) : [];
  const request = only(requests, "request", word);
  if (request !== null) return currentRequest(store, request);
  const found = await runBy(store, named ?? word);
  if (found === null) {
    throw new CommandError(
      `there is no request, checkpoint or run ${shownWord(word)}; \`bursar approvals\` lists what waits`,
    );
  }
  const { run, requests: waiting } = await runWithRequests(store, found);
  const [first, second] = waiting;
  if (first === undefined) {
    const how = run.status === "paused" ? "; `bursar resume` lets it go on" : "";
    throw new CommandError(`run ${run.id} is ${run.status}, and waits for no approval${how}`);
  }
  if (second === undefined) return first;
  const some = waiting
    .slice(0, MOST_LISTED)
    .map(({ id, exhausted_dimension, kind }) => `${id} (${exhausted_dimension ?? kind})`);
  const names = [...some, ...(waiting.length > MOST_LISTED ? ["…"] : [])].join(", ");
  throw new CommandError(
    `run ${run.id} waits for ${waiting.length} approvals; name one, or answer all with \`bursar approve ${run.id} --all\`: ${names}`,
  );
}

async function requestsBeginning(store: Store, word: string): Promise<readonly ApprovalRequest[]> {
  const found: ApprovalRequest[] = [];
  const wanted = { prefix: word, status: "pending", limit: MOST_NAMED + 1 };
  for await (const document of store.beginning("approval", wanted)) found.push(readApproval(document));
  return found;
}

/** The one that was found, or null; more than one are one too many. */
export function only<Found extends { readonly id: string }>(
  found: readonly Found[],
  what: string,
  word: string,
): Found | null {
  const [first, second] = found;
  if (first === undefined) return null;
  if (second === undefined) return first;
  const some = found.slice(0, MOST_NAMED).map(({ id }) => id);
  const more = found.length > MOST_NAMED ? ", …" : "";
  throw new CommandError(
    `${shownWord(word)} is the beginning of more than one ${what}: ${some.join(", ")}${more}; say more of it`,
  );
}

function checkWord(word: string): void {
  if (word.length > LONGEST_WORD) throw new CommandError(`an id has at most ${LONGEST_WORD} characters`);
}

/** What comes from outside is shown without what a terminal would obey. */
export function shownWord(word: string): string {
  return shown(word)
    .slice(0, 80)
    .replace(/\p{Cc}/gu, "�");
}
