import type { BudgetAmounts } from "bursar";
import type { ApprovalView } from "bursar/views";
import type { Press } from "./key.js";
import type { Field, Form, Wish } from "./state.js";

export const REASON = "reason";
const LONGEST_REASON = 500;
const LONGEST_AMOUNT = 20;

/** The form for a yes: an amount for every limit there is, the suggested ones filled in, and a reason. */
export function approving(request: ApprovalView): Form {
  const { suggested_extension: suggested, limits, exhausted_dimension } = request;
  const isBudget = request.kind === "budget_extension";
  const others = Object.keys(limits).filter((id) => suggested[id] === undefined);
  const first =
    exhausted_dimension === null || suggested[exhausted_dimension] === undefined ? [] : [exhausted_dimension];
  const named = isBudget ? [...new Set([...first, ...Object.keys(suggested), ...others])] : [];
  const amounts = named.map((name) => ({ name, text: suggested[name] === undefined ? "" : String(suggested[name]) }));
  const fields = [...amounts, { name: REASON, text: "" }];
  return { kind: "form", request: request.id, answer: "approve", fields, at: 0, bare: request.prediction !== null };
}

export function denying({ id }: ApprovalView): Form {
  return { kind: "form", request: id, answer: "deny", fields: [{ name: REASON, text: "" }], at: 0, bare: true };
}

/** What a key does to a form that is being filled in. */
export function typed(form: Form, press: Press): Form {
  const { fields, at } = form;
  const field = fields[at];
  if (field === undefined) return form;
  const moved = (by: number): Form => ({ ...form, at: (at + by + fields.length) % fields.length });
  const written = (text: string): Form => {
    return { ...form, fields: fields.map((each, index) => (index === at ? { ...each, text } : each)) };
  };
  switch (press.name) {
    case "up":
    case "back-tab":
      return moved(-1);
    case "down":
    case "tab":
      return moved(1);
    case "backspace":
      return written([...field.text].slice(0, -1).join(""));
    case "clear":
      return written("");
    case "text":
      return written(within(field, field.text + press.text));
    default:
      return form;
  }
}

function within({ name }: Field, text: string): string {
  return name === REASON ? text.slice(0, LONGEST_REASON) : text.replaceAll(" ", "").slice(0, LONGEST_AMOUNT);
}

/** What a form asks for, or what is wrong with it. */
export function wishOf({ request, answer, fields, bare }: Form): Wish | string {
  const written = fields.find(({ name }) => name === REASON)?.text.trim() ?? "";
  const reason = written === "" ? null : written;
  const amounts = fields.filter(({ name, text }) => name !== REASON && text !== "");
  const isBudget = fields.length > 1;
  const extensions: Record<string, number> = {};
  for (const { name, text } of amounts) {
    const amount = readNumber(text);
    if (amount === null) return `${name}: ${text} is no amount; write a number such as 500 or 0.25`;
    if (amount > 0) extensions[name] = amount;
  }
  if (answer === "approve" && isBudget && !bare && Object.keys(extensions).length === 0) {
    return "nothing would be added; write an amount, or leave with Esc";
  }
  return {
    kind: "decide",
    request,
    answer,
    reason,
    anyway: false,
    extensions: answer === "approve" && isBudget ? (extensions as BudgetAmounts) : null,
  };
}

/** `+1,000`, `$0.10` and `1_000` are what people write. */
function readNumber(text: string): number | null {
  const bare = text
    .replace(/^\+/, "")
    .replace(/^\$/, "")
    .replace(/(?<=\d)[,_](?=\d{3}(?!\d))/g, "");
  return /^\d{1,15}(?:\.\d{1,9})?$/.test(bare) ? Number(bare) : null;
}
