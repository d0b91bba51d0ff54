import type { ApprovalView } from "bursar/views";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { asApiError, post } from "../../api/client.js";
import { useMe } from "../../api/me.js";
import { mayOperate } from "../../api/shapes.js";
import type { DecisionAnswer } from "../../panels/decision-form.js";
import { useAct } from "../../parts/act.js";
import { announce } from "../../parts/announcer.js";

interface ApproveAllProps {
  readonly approvals: readonly ApprovalView[];
  readonly onDone: () => void;
}

/** One yes for all requests that are shown, each as suggested. It asks once more before it decides. */
export function ApproveAll({ approvals, onDone }: ApproveAllProps): JSX.Element | null {
  const me = useMe();
  const [asks, setAsks] = useState(false);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const { busy, run } = useAct();
  if (!mayOperate(me)) return null;
  const approve = () =>
    run(async () => {
      const failed = await approveEach(approvals);
      setProblems(failed);
      setAsks(false);
      announce(`${approvals.length - failed.length} of ${approvals.length} requests are approved`);
      onDone();
    });
  return (
    <section class="approve-all" aria-label="All requests">
      <div class="actions">
        {!asks && (
          <button type="button" class="button" data-action="approve-all" onClick={() => setAsks(true)}>
            Approve all {approvals.length}
          </button>
        )}
        {asks && (
          <>
            <span>Approve {approvals.length} requests, each as suggested?</span>
            <button type="button" class="button button-primary" disabled={busy} onClick={approve}>
              Yes, approve all
            </button>
            <button type="button" class="button" disabled={busy} onClick={() => setAsks(false)}>
              No
            </button>
          </>
        )}
      </div>
      {problems.map((problem) => (
        <p key={problem} class="fault">
          {problem}
        </p>
      ))}
    </section>
  );
}

/** One after the other, with the amounts that are shown; one that fails does not stop the rest. */
async function approveEach(approvals: readonly ApprovalView[]): Promise<readonly string[]> {
  const failed: string[] = [];
  const left: ApprovalView[] = [];
  for (const approval of approvals) {
    const { id, kind, suggested_extension } = approval;
    const body = kind === "budget_extension" ? { extensions: suggested_extension } : {};
    try {
      await post<DecisionAnswer>(`approvals/${encodeURIComponent(id)}/approve`, body);
    } catch (error) {
      failed.push(`${id}: ${asApiError(error).message}`);
      left.push(approval);
    }
  }
  // An inner budget may find room now that one above it was extended.
  return left.length === 0 || left.length === approvals.length ? failed : approveEach(left);
}
