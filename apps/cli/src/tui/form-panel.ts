import type { ApprovalView } from "bursar/views";
import { shareOf } from "../render/dimension-lines.js";
import { runFigure } from "../render/run-figures.js";
import { clip, harmless, pad, type Style } from "../render/style.js";
import { REASON } from "./form.js";
import { shownPart } from "./scroll.js";
import type { Field, Form } from "./state.js";

const LABEL = 26;
const AMOUNT = 14;

/** The form over what it is about. */
export function formPanel(
  form: Form,
  request: ApprovalView | null,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  style: Style,
): readonly string[] {
  const subject = harmless(request?.run ?? request?.budget ?? form.request);
  const isBudget = form.fields.length > 1 || request?.kind === "budget_extension";
  const what = form.answer === "approve" ? style.good("approve") : style.bad("deny");
  const consequence = consequenceOf(form, isBudget);
  const head = [clip(`  ${what} ${style.bold(subject)}`, columns), clip(style.dim(`  ${consequence}`), columns), ""];
  const room = Math.max(1, rows - head.length);
  const { items, from } = shownPart(form.fields, form.at, room);
  const lines = items.map((field, index) => fieldLine(field, from + index === form.at, request, columns, style));
  return [...head, ...lines];
}

function consequenceOf({ answer }: Form, isBudget: boolean): string {
  if (answer === "deny") return isBudget ? "The run is cancelled." : "The program is told so, and goes on.";
  return isBudget ? "What is added to each limit; empty adds nothing." : "This once, for exactly this action.";
}

function fieldLine(
  { name, text }: Field,
  isHere: boolean,
  request: ApprovalView | null,
  columns: number,
  style: Style,
): string {
  const label = pad(clip(harmless(name), LABEL - 4), LABEL - 2);
  const mark = isHere ? style.accent("❯") : " ";
  const isReason = name === REASON;
  const room = isReason ? Math.max(1, columns - LABEL - 4) : AMOUNT;
  // Of a long text the end is shown, because there it is written.
  const shown = [...text].slice(-room + 1).join("");
  const cursor = isHere ? style.accent("▏") : "";
  const written = isReason ? `${shown}${cursor}` : pad(`+${shown}${cursor}`, AMOUNT);
  return clip(`  ${mark} ${label}${written}${isReason ? "" : `  ${hintOf(name, text, request, style)}`}`, columns);
}

/** How the limit stands, and what it would become. */
function hintOf(name: string, text: string, request: ApprovalView | null, style: Style): string {
  if (request === null) return "";
  const limit = Number(request.limits[name] ?? 0);
  const more = Number(text);
  const taken = { used: Number(request.consumed[name] ?? 0), held: Number(request.held[name] ?? 0) };
  const now = shareOf({ dimension: name, ...taken, limit });
  return style.dim(more > 0 && Number.isFinite(more) ? `${now} → ${runFigure(name, limit + more)}` : now);
}
