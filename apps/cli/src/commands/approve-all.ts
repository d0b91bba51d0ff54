import {
  type ApprovalRequest,
  type ApproveOptions,
  type Bursar,
  BursarError,
  currentRequest,
  pendingRequests,
  readApproval,
} from "bursar";
import { UsageError } from "../app/errors.js";
import { checkModules } from "../app/runs/missing-parts.js";
import { openDeciding } from "../app/runs/open-deciding.js";
import { driveOthers } from "../app/runs/waiting-runs.js";
import { findRun } from "../app/store/find-run.js";
import type { Place } from "../app/store/opened-store.js";
import { rootOf } from "../app/store/run-root.js";
import { type Flags, principalOf, textOf } from "../arguments/run-flags.js";
import { approvalsText, subjectOf } from "../render/approval.js";
import { counted } from "../render/quantities.js";
import { runFigures } from "../render/run-figures.js";
import { harmless, type Style } from "../render/style.js";
import { readLine } from "../terminal/line-reader.js";
import { goOn } from "./common/continue-run.js";
import { EXIT } from "./common/exit-code.js";
import { openPlace } from "./common/place.js";
import type { Chore, Done } from "./common/run-command.js";
import { errorStyle } from "./common/run-company.js";

export const ALL_FLAGS: Flags = { all: { type: "boolean" }, of: { type: "string" } };

/** What became of one of the requests. */
interface Answered {
  readonly request: ApprovalRequest;
  /** Why it could not be answered, or null. */
  readonly problem: string | null;
}

/** Says yes to all requests that wait, or to all of one run, each as suggested. One run is driven on, several are left to workers. */
export async function approveAll(chore: Chore): Promise<Done> {
  const { word, flags, terminal, style } = chore;
  if (flags.extend !== undefined)
    throw new UsageError("--extend and --all exclude each other: amounts are for one request");
  await using place = await openPlace(flags, terminal);
  const run = word === "" ? null : await findRun(place.store, word);
  const requests = await wantedRequests(place, run?.id ?? null, textOf(flags, "of"));
  if (requests.length === 0)
    return { report: { approved: [], failed: [] }, text: `${style.dim("nothing waits for an approval")}\n` };
  if (!(await isConfirmed(requests, chore, place)))
    return { report: null, text: "nothing was decided\n", code: EXIT.failed };
  const reason = textOf(flags, "reason") ?? null;
  const answer = { by: principalOf(flags), reason, replayChanged: flags["replay-changed"] === true };
  if (run === null || flags.detach === true) {
    await using bursar = openDeciding(place, terminal);
    return doneWith(await answerAll(bursar, requests, answer), style);
  }
  const root = await rootOf(place.store, run);
  // From here on --yes would say yes to what the run asks next, too.
  return await goOn({ place, flags: { ...flags, yes: undefined }, terminal, run: root }, async (bursar) => {
    const answers = await answerAll(bursar, requests, answer);
    if (flags.json !== true && flags.quiet !== true) process.stderr.write(doneWith(answers, errorStyle(terminal)).text);
    for (const { request } of answers.filter(isDone)) await driveOthers(bursar, request, root);
  });
}

/** All that wait, those of one run and of what is below it, or those for one budget. */
async function wantedRequests(
  { store }: Place,
  run: string | null,
  budget: string | undefined,
): Promise<readonly ApprovalRequest[]> {
  const found: ApprovalRequest[] = [];
  if (run !== null) found.push(...(await pendingRequests(store, run)));
  else
    for await (const each of store.documents("approval", "pending"))
      found.push(await currentRequest(store, readApproval(each)));
  const { instant } = store.clock.now();
  const open = found.filter(
    (request) => request.expires > instant && (budget === undefined || request.budget === budget),
  );
  const depths = await Promise.all(
    open.map(async (request) => (request.budget === null ? 0 : (await store.path(request.budget)).length)),
  );
  // Inner budgets find room only after those above them were extended.
  return [...open.keys()]
    .sort((one, other) => (depths[one] ?? 0) - (depths[other] ?? 0))
    .flatMap((at) => open[at] ?? []);
}

async function isConfirmed(
  requests: readonly ApprovalRequest[],
  { flags, terminal }: Chore,
  { store }: Place,
): Promise<boolean> {
  if (flags.yes === true) return true;
  const { keys, interrupt, signal } = terminal;
  if (keys === null || terminal.aside === null || flags.json === true || flags.quiet === true) {
    const many = `${counted(requests.length, "request")} would be approved`;
    throw new UsageError(`${many}, and nobody is at the keyboard to confirm that; add --yes`);
  }
  const write = (text: string) => void process.stderr.write(text);
  write(approvalsText(requests, store.clock.now().instant, errorStyle(terminal)));
  const question = `  approve ${counted(requests.length, "request")}, as suggested (y or n)? `;
  const said = await readLine(question, { keys, write, interrupt, signal });
  return /^(y|yes)$/i.test(said?.trim() ?? "");
}

async function answerAll(
  bursar: Bursar,
  requests: readonly ApprovalRequest[],
  answer: ApproveOptions,
): Promise<readonly Answered[]> {
  const answered: Answered[] = [];
  for (const request of requests) {
    try {
      if (answer.replayChanged !== true) await checkModules(bursar.store, request);
      answered.push({ request: await bursar.decide(request.id, "approve", answer), problem: null });
    } catch (error) {
      // One that somebody has answered meanwhile, or that has no room, does not keep the others waiting.
      if (!(error instanceof BursarError)) throw error;
      answered.push({ request, problem: error.message });
    }
  }
  return answered;
}

function isDone({ problem }: Answered): boolean {
  return problem === null;
}

function doneWith(answers: readonly Answered[], style: Style): Done {
  const text = answers.map(({ request, problem }) => {
    if (problem !== null) return `${style.bad("✗ not approved")}  ${subjectOf(request)}: ${harmless(problem)}\n`;
    const granted = runFigures(request.decision?.extension ?? {});
    return `${style.good("✓ approved")}  ${subjectOf(request)}${granted === "" ? "" : `: ${granted} more`}\n`;
  });
  const failed = answers.filter((each) => !isDone(each)).map(({ request, problem }) => ({ id: request.id, problem }));
  const approved = answers.filter(isDone).map(({ request }) => request);
  return { report: { approved, failed }, text: text.join(""), code: failed.length === 0 ? EXIT.done : EXIT.failed };
}
