import type { ApprovalRequest } from "bursar";
import { type PredictedView, type PredictionView, predictionIn } from "bursar/views";
import { roundFigure } from "./estimate.js";
import { objectOf } from "./object.js";
import { counted, spanLeft } from "./quantities.js";
import { runFigure, runFigures, runShare } from "./run-figures.js";
import { clip, harmless, pad, type Style, wrap } from "./style.js";

const LABEL = 12;
const COLUMNS = 80;
const LONGEST_ACTION = 200;
const LONG_WORD = /\S{60}(?=\S)/gu;

/** A request, as whoever decides about it wants to see it. */
export function approvalText(request: ApprovalRequest, now: number, style: Style): string {
  const bar = style.warn("│");
  const lines = fields(request, now).flatMap(([label, text]) => {
    const [first = "", ...more] = wrap(text, COLUMNS - LABEL - 6);
    const rest = more.map((line) => `  ${bar} ${" ".repeat(LABEL)}${line}`);
    return [`  ${bar} ${style.dim(pad(label, LABEL))}${first}`, ...rest];
  });
  const title = request.status === "pending" ? "approval request" : `approval request, ${request.status}`;
  return [`  ${style.warn(`┌ ${title}`)}`, ...lines, `  ${style.warn("└")}`].map((line) => `${line}\n`).join("");
}

function fields(request: ApprovalRequest, now: number): readonly (readonly [string, string])[] {
  const { id, run, exhausted_dimension: dimension, suggested_extension, decision } = request;
  const about: (readonly [string, string])[] = [
    ["id", harmless(id)],
    ...(run === null ? [] : [["run", harmless(run)] as const]),
  ];
  if (dimension !== null) about.push(...dimensionFields(request, dimension));
  const others = request.waiting.filter((calls) => calls.run !== null && calls.run !== run);
  if (others.length > 0) about.push(["for others", othersText(others)]);
  const prediction = predictionIn(request);
  if (prediction !== null) about.push(...predictionFields(prediction, suggested_extension));
  if (request.budget !== null && request.budget !== run) about.push(["of budget", harmless(request.budget)]);
  const key = keyIn(request);
  if (key !== null) about.push(["of key", harmless(key)]);
  if (Object.keys(request.action).length > 0 && prediction === null) about.push(["waits", actionText(request)]);
  if (decision !== null) {
    const reason = decision.reason === null ? "" : `: ${harmless(decision.reason)}`;
    about.push(["decided", `${request.status} by ${harmless(decision.by)}${reason}`]);
  } else if (request.status === "pending") about.push(["expires", expiryText(request, now)]);
  return about;
}

/** How the dimension stands that is asked for, and what would let the waiting calls go on. */
function dimensionFields(request: ApprovalRequest, dimension: string): readonly (readonly [string, string])[] {
  const { consumed, held, limits, suggested_extension, least_extension, message, status } = request;
  const figures = runShare(dimension, consumed[dimension] ?? 0, limits[dimension] ?? 0);
  const about: (readonly [string, string])[] = [
    ["dimension", harmless(dimension)],
    ["consumed", figures],
  ];
  if (message !== "") about.push(["needs", harmless(message)]);
  const others = Object.keys(limits).filter((each) => each !== dimension && consumed[each]);
  const besides = others.map((each) => runShare(each, consumed[each], limits[each]));
  if (besides.length > 0) about.push(["besides", besides.join(", ")]);
  if (Object.keys(held).length > 0) about.push(["held", `${runFigures(held)}, for calls under way`]);
  about.push(["suggested", `+ ${runFigures(suggested_extension)}`]);
  if (status === "pending" && isShort(request)) {
    about.push(["at least", `+ ${runFigures(least_extension)}, or nothing can go on`]);
  }
  return about;
}

function isShort({ least_extension }: ApprovalRequest): boolean {
  return Object.values(least_extension).some((amount) => Number(amount) > 0);
}

/** So many runs that wait for the same are named. */
const MOST_NAMED = 3;

function othersText(others: ApprovalRequest["waiting"]): string {
  const named = others.slice(0, MOST_NAMED).map(({ run }) => harmless(run ?? ""));
  const more = others.length - named.length;
  return `${named.join(", ")}${more === 0 ? "" : ` and ${counted(more, "more run")}`} wait${others.length === 1 ? "s" : ""} too`;
}

/** A run that is asked about before it begins: what it is predicted to take, what does not fit first. */
function predictionFields(
  { dimensions, sources, notes }: PredictionView,
  suggested: ApprovalRequest["suggested_extension"],
): readonly (readonly [string, string])[] {
  const sorted = [...dimensions].sort((a, b) => Number(b.missing > 0) - Number(a.missing > 0));
  return [
    ["asks", "to begin, though it is expected not to fit"],
    ...sorted.map((each) => ["expected", predictedText(each)] as const),
    ...sources.map(({ source, about }) => [source, harmless(about)] as const),
    ...notes.map((note) => ["note", harmless(note)] as const),
    ...(Object.keys(suggested).length === 0 ? [] : [["suggested", `+ ${runFigures(suggested)}`] as const]),
  ];
}

/** `cost_usd about $0.10, up to $0.60 of $0.50: $0.10 missing`. */
function predictedText({ dimension, median, upper, limit, missing }: PredictedView): string {
  const figure = (value: number) => roundFigure(dimension, value);
  const most = limit === null ? figure(upper) : `${figure(upper)} of ${runFigure(dimension, limit)}`;
  const lacks = missing > 0 ? `: ${figure(missing)} missing` : "";
  return `${harmless(dimension)} about ${figure(median)}, up to ${most}${lacks}`;
}

/** What a program wanted to do is its own words, which nobody vouches for. */
export function actionText({ action }: Pick<ApprovalRequest, "action">): string {
  const { name, capability_id = name, args, message } = action;
  // The gateway sees requests and no tools, and says in words what did not fit.
  if (capability_id === undefined) {
    return harmless(clip(typeof message === "string" ? message : JSON.stringify(action), LONGEST_ACTION));
  }
  const inner = objectOf(args);
  const isTool = name === "tool" || (capability_id !== undefined && inner.name === capability_id);
  const what = isTool ? inner.name : capability_id;
  const given = isTool ? inner.args : args;
  const text = clip(`${String(what)} ${JSON.stringify(given ?? null)}`, LONGEST_ACTION);
  // Where it has no blanks it is broken all the same, so that it stays inside of its frame.
  return harmless(text).replace(LONG_WORD, "$& ");
}

function expiryText({ expires, run }: ApprovalRequest, now: number): string {
  if (expires > now) return `in ${spanLeft(expires - now)}`;
  return `it has; \`bursar resume ${run}\` asks anew`;
}

/** Requests as a table, for people who look at many. */
export function approvalsText(requests: readonly ApprovalRequest[], now: number, style: Style): string {
  if (requests.length === 0) return `${style.dim("nothing waits for an approval")}\n`;
  return requests.map((request) => approvalText(request, now, style)).join("\n");
}

/** What a request is for, in two words. */
export function subjectOf(request: Pick<ApprovalRequest, "run" | "budget" | "action">): string {
  const { run, budget } = request;
  const key = keyIn(request);
  if (run !== null) return `run ${harmless(run)}`;
  return key === null ? `budget ${harmless(budget ?? "")}` : `key ${harmless(key)}`;
}

/** The label of the gateway's key that was shown with the call that waits; null for a run's requests, whose actions are its own words. */
function keyIn({ run, action: { key } }: Pick<ApprovalRequest, "run" | "action">): string | null {
  return run === null && typeof key === "string" ? key : null;
}
