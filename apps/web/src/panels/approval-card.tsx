import type { ApprovalView } from "bursar/views";
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { useMe } from "../api/me.js";
import { mayOperate } from "../api/shapes.js";
import { labelOf } from "../format/dimension.js";
import { Amount } from "../parts/amount.js";
import { Instant } from "../parts/instant.js";
import { JsonText } from "../parts/json.js";
import { Status } from "../parts/status.js";
import { approvalAddress, runAddress } from "../router/route.js";
import { ConsumptionTable } from "./consumption-table.js";
import { type DecisionAnswer, DecisionForm } from "./decision-form.js";
import { PredictionTable } from "./prediction-table.js";
import { questionOf, reasonOf } from "./question.js";

interface ApprovalCardProps {
  readonly approval: ApprovalView;
  readonly onDecided: (answer: DecisionAnswer) => void;
  /** Its place in the order of headings. */
  readonly level?: 2 | 3;
}

/** Everything a human needs in order to answer, and the answer. */
export function ApprovalCard({ approval, onDecided, level = 2 }: ApprovalCardProps): JSX.Element {
  const id = useId();
  const me = useMe();
  const Title = level === 2 ? "h2" : "h3";
  const pending = approval.status === "pending";
  return (
    <article class="card approval" tabIndex={-1} data-item={approval.id} aria-labelledby={id}>
      <div class="card-head">
        <Title id={id}>
          <a href={approvalAddress(approval.id)}>{questionOf(approval)}</a>
        </Title>
        <Status status={approval.status} />
      </div>
      <div class="approval-body">
        <div class="approval-told">
          <p class="why">{reasonOf(approval)}</p>
          <Facts approval={approval} />
          {approval.missing.length > 0 && (
            <p class="note">
              This server cannot go on with the run: {approval.missing.join("; ")}. A yes waits for a worker that has
              it.
            </p>
          )}
          {approval.prediction !== null && <PredictionTable prediction={approval.prediction} />}
          {approval.prediction === null && Object.keys(approval.limits).length > 0 && (
            <ConsumptionTable
              consumed={approval.consumed}
              held={approval.held}
              limits={approval.limits}
              exhausted={approval.exhausted_dimension}
            />
          )}
          {approval.prediction === null && Object.keys(approval.action).length > 0 && (
            <details open={approval.kind !== "budget_extension"}>
              <summary>What it wants to do</summary>
              <JsonText value={approval.action} />
            </details>
          )}
        </div>
        {approval.decision !== null && <Answer approval={approval} />}
        {pending && mayOperate(me) && <DecisionForm approval={approval} onDecided={onDecided} />}
        {pending && !mayOperate(me) && <p class="note">You are {me.role}: an operator has to answer.</p>}
      </div>
    </article>
  );
}

/** So many further runs that wait for the same answer are named. */
const MOST_NAMED = 5;

function Facts({ approval }: { readonly approval: ApprovalView }): JSX.Element {
  const { run, budget, requested, expires, status } = approval;
  const others = approval.waiting.flatMap((calls) => (calls.run === null || calls.run === run ? [] : [calls.run]));
  return (
    <dl class="facts">
      {run !== null && (
        <div>
          <dt>Run</dt>
          <dd>
            <a href={runAddress(run)}>{run}</a>
          </dd>
        </div>
      )}
      {others.length > 0 && (
        <div>
          <dt>Also wait</dt>
          <dd>
            {others.slice(0, MOST_NAMED).map((id) => (
              <span key={id}>
                <a href={runAddress(id)}>{id}</a>{" "}
              </span>
            ))}
            {others.length > MOST_NAMED && <span class="note">and {others.length - MOST_NAMED} more</span>}
          </dd>
        </div>
      )}
      {budget !== null && budget !== run && (
        <div>
          <dt>Budget</dt>
          <dd>{budget}</dd>
        </div>
      )}
      <div>
        <dt>Asked</dt>
        <dd>
          <Instant at={requested} />
        </dd>
      </div>
      {status === "pending" && (
        <div>
          <dt>Expires</dt>
          <dd>
            <Instant at={expires} />
          </dd>
        </div>
      )}
    </dl>
  );
}

function Answer({ approval: { status, decision } }: { readonly approval: ApprovalView }): JSX.Element | null {
  if (decision === null) return null;
  const granted = Object.entries(decision.extension).filter(([, value]) => typeof value === "number");
  return (
    <p class="answer">
      <strong>{status === "approved" ? "Approved" : status === "denied" ? "Denied" : "Decided"}</strong> by{" "}
      {decision.by} <Instant at={decision.at} />
      {granted.map(([dimension, value]) => (
        <span key={dimension}>
          {" "}
          · {labelOf(dimension)} +<Amount dimension={dimension} value={Number(value)} />
        </span>
      ))}
      {decision.reason !== null && <> · “{decision.reason}”</>}
    </p>
  );
}
