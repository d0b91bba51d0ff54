import type { ApprovalView, RunView } from "bursar/views";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, post } from "../api/client.js";
import { formatAmount } from "../format/amount.js";
import { inOrder } from "../format/dimension.js";
import { useAct } from "../parts/act.js";
import { AlsoSelect } from "../parts/also-select.js";
import { announce } from "../parts/announcer.js";
import { Problem } from "../parts/states.js";
import { AmountField } from "./amount-field.js";
import { extensionsOf, typedFrom } from "./amounts.js";
import { moveOnFrom } from "./move-on.js";

/** What the server says about a decision. */
export interface DecisionAnswer {
  readonly approval: ApprovalView;
  readonly run: RunView | null;
}

interface DecisionFormProps {
  readonly approval: ApprovalView;
  readonly onDecided: (answer: DecisionAnswer) => void;
}

/** Amounts to change, a reason, and the answer. */
export function DecisionForm({ approval, onDecided }: DecisionFormProps): JSX.Element {
  const extends_ = approval.kind === "budget_extension";
  const [typed, setTyped] = useState(() => (extends_ ? typedFrom(approval.suggested_extension) : {}));
  const [reason, setReason] = useState("");
  const { busy, error, run } = useAct();
  const extensions = extensionsOf(typed);
  // A run that has not begun can do so with the limits it has; one that has used them up would pause again at once.
  const needsMore = extends_ && approval.prediction === null;
  const nothing = needsMore && extensions !== null && Object.keys(extensions).length === 0;
  const little = extensions === null || nothing ? null : tooLittle(approval, extensions);
  const decide = (how: "approve" | "deny") =>
    run(async () => {
      const said = reason.trim() === "" ? {} : { reason: reason.trim() };
      const body = how === "approve" && extends_ ? { extensions: extensions ?? {}, ...said } : said;
      const answer = await decided(approval.id, how, body);
      announce(how === "approve" ? "Approved: the run goes on" : "Denied: the run ends");
      moveOnFrom(approval.id);
      onDecided(answer);
    });
  return (
    <form
      class="decision"
      onSubmit={(event) => {
        event.preventDefault();
        // Enter in a field must not decide; only a button does.
      }}
    >
      {extends_ && <Amounts approval={approval} typed={typed} onType={setTyped} />}
      <label class="field">
        <span>
          Reason <span class="note">(optional, goes into the chain)</span>
        </span>
        <textarea rows={2} maxLength={2000} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      {nothing && <p class="fault">Write at least one amount: with nothing more the run would pause again at once.</p>}
      {little !== null && <p class="fault">{little}</p>}
      {error !== null && <Problem error={error} />}
      <div class="actions">
        <button
          type="button"
          class="button button-primary button-large"
          data-action="approve"
          disabled={busy || extensions === null || nothing || little !== null}
          onClick={() => decide("approve")}
        >
          Approve
        </button>
        <button
          type="button"
          class="button button-danger button-large"
          data-action="deny"
          disabled={busy}
          onClick={() => decide("deny")}
        >
          Deny
        </button>
      </div>
    </form>
  );
}

/** What is wrong with amounts that would let no waiting call go on, or null. */
function tooLittle(
  { exhausted_dimension: dimension, least_extension }: ApprovalView,
  extensions: Readonly<Record<string, number>>,
): string | null {
  const least = dimension === null ? 0 : Number(least_extension[dimension] ?? 0);
  if (dimension === null || (extensions[dimension] ?? 0) >= least) return null;
  return `With so little no waiting call can go on: add at least ${formatAmount(dimension, least)}.`;
}

/** Whoever comes too late is told so in a place that stays, because the card will soon show what the other one has said. */
async function decided(id: string, how: "approve" | "deny", body: object): Promise<DecisionAnswer> {
  try {
    return await post<DecisionAnswer>(`approvals/${encodeURIComponent(id)}/${how}`, body);
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) announce(`Too late: ${error.message}`);
    throw error;
  }
}

interface AmountsProps {
  readonly approval: ApprovalView;
  readonly typed: Readonly<Record<string, string>>;
  readonly onType: (typed: Readonly<Record<string, string>>) => void;
}

/** The amounts suggested, and a way to extend something else along with them. */
function Amounts({ approval, typed, onType }: AmountsProps): JSX.Element {
  return (
    <fieldset class="amount-fields">
      <legend>Grant</legend>
      {inOrder(Object.keys(typed), (dimension) => dimension).map((dimension) => {
        const limit = approval.limits[dimension];
        return (
          <AmountField
            key={dimension}
            dimension={dimension}
            typed={typed[dimension] ?? ""}
            limit={typeof limit === "number" ? limit : null}
            onType={(text) => onType({ ...typed, [dimension]: text })}
          />
        );
      })}
      <AlsoSelect
        label="Extend also"
        dimensions={Object.keys(approval.limits).filter((dimension) => !Object.hasOwn(typed, dimension))}
        onChoose={(dimension) => onType({ ...typed, [dimension]: "" })}
      />
    </fieldset>
  );
}
