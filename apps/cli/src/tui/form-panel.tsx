import type { ApprovalView } from "bursar/views";
import type { ReactElement } from "react";
import { shareOf } from "../render/dimension-lines.js";
import { runFigure } from "../render/run-figures.js";
import { harmless } from "../render/style.js";
import { REASON } from "./form.js";
import { Cell, Line, ListRow, useStyle } from "./line.js";
import { shownPart } from "./scroll.js";
import type { Field, Form, Size } from "./state.js";

const LABEL = 24;
const AMOUNT = 15;
/** The rows above the fields. */
const HEAD = 3;

interface FormPanelProps {
  readonly form: Form;
  /** What the form is about; null when it is not known any more. */
  readonly request: ApprovalView | null;
  readonly room: Size;
}

/** The form over what it is about. */
export function FormPanel({ form, request, room }: FormPanelProps): ReactElement {
  const style = useStyle();
  const subject = harmless(request?.run ?? request?.budget ?? form.request);
  const isBudget = form.fields.length > 1 || request?.kind === "budget_extension";
  const what = form.answer === "approve" ? style.good("approve") : style.bad("deny");
  const { items, from } = shownPart(form.fields, form.at, Math.max(1, room.rows - HEAD));
  return (
    <>
      <Line indent={2} text={`${what} ${style.bold(subject)}`} />
      <Line indent={2} text={style.dim(consequenceOf(form, isBudget))} />
      <Line text="" />
      {items.map((field, index) => (
        <FieldRow
          key={field.name}
          field={field}
          isHere={from + index === form.at}
          request={request}
          columns={room.columns}
        />
      ))}
    </>
  );
}

function consequenceOf({ answer }: Form, isBudget: boolean): string {
  if (answer === "deny") return isBudget ? "The run is cancelled." : "The program is told so, and goes on.";
  return isBudget ? "What is added to each limit; empty adds nothing." : "This once, for exactly this action.";
}

interface FieldRowProps {
  readonly field: Field;
  readonly isHere: boolean;
  readonly request: ApprovalView | null;
  readonly columns: number;
}

function FieldRow({ field: { name, text }, isHere, request, columns }: FieldRowProps): ReactElement {
  const style = useStyle();
  const isReason = name === REASON;
  const cursor = isHere ? style.accent("▏") : "";
  // Of a long text the end is shown, because there it is written.
  const most = isReason ? columns - LABEL - 5 : AMOUNT - 3;
  const shown = [...text].slice(-Math.max(1, most)).join("");
  return (
    <ListRow isChosen={isHere} indent={2}>
      <Cell width={LABEL} text={harmless(name)} />
      {isReason ? (
        <Cell text={`${shown}${cursor}`} />
      ) : (
        <>
          <Cell width={AMOUNT} text={`+${shown}${cursor}`} />
          <Cell text={style.dim(hintOf(name, text, request))} />
        </>
      )}
    </ListRow>
  );
}

/** How the limit stands, and what it would become. */
function hintOf(name: string, text: string, request: ApprovalView | null): string {
  if (request === null) return "";
  const limit = Number(request.limits[name] ?? 0);
  const more = Number(text);
  const taken = { used: Number(request.consumed[name] ?? 0), held: Number(request.held[name] ?? 0) };
  const now = shareOf({ dimension: name, ...taken, limit });
  return more > 0 && Number.isFinite(more) ? `${now} → ${runFigure(name, limit + more)}` : now;
}
