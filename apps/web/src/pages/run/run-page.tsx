import type { RunRow, RunView } from "bursar/views";
import type { JSX } from "preact";
import type { Change } from "../../api/feed.js";
import { type Resource, useResource } from "../../api/resource.js";
import { ApprovalCard } from "../../panels/approval-card.js";
import { BudgetTree } from "../../panels/budget-tree.js";
import { Expected } from "../../panels/expected.js";
import { RunTabs } from "../../panels/run-tabs.js";
import { RunsTable } from "../../panels/runs-table.js";
import { Heading } from "../../parts/heading.js";
import { Ready } from "../../parts/states.js";
import { Status } from "../../parts/status.js";
import { Charts } from "./charts.js";
import { Outcome } from "./outcome.js";
import { RunActions } from "./run-actions.js";
import { RunFacts } from "./run-facts.js";
import { Steps } from "./steps.js";

/** Everything about one run, what needs an answer first. */
export function RunPage({ id }: { readonly id: string }): JSX.Element {
  // What its children and their requests do changes a run's budgets too; which they are is only known once it was read.
  const resource: Resource<RunView> = useResource<RunView>(`runs/${encodeURIComponent(id)}`, (change) =>
    concerns(change, id, resource.value?.children ?? []),
  );
  const run = resource.value;
  return (
    <>
      <Heading
        title={run?.program.name ?? `Run ${id}`}
        tab={run === null ? `Run ${id}` : `${run.program.name}: ${run.status}`}
      >
        {run !== null && (
          <Status status={run.interrupted ? "interrupted" : run.denied === null ? run.status : "denied"} />
        )}
        {run !== null && <RunActions run={run} onChanged={resource.replace} />}
      </Heading>
      <RunTabs id={id} current="run" />
      <Ready resource={resource} what="the run">
        {(value) => <Contents run={value} reload={resource.reload} />}
      </Ready>
    </>
  );
}

function concerns(change: Change, id: string, children: readonly RunRow[]): boolean {
  if (change === null || change.approvals.length > 0) return true;
  return [id, ...children.map((child) => child.id)].some((each) => change.runs.includes(each));
}

function Contents({ run, reload }: { readonly run: RunView; readonly reload: () => void }): JSX.Element {
  return (
    <>
      <RunFacts run={run} />
      {run.outlook !== null && <Outlook text={run.outlook} />}
      {run.requests.length > 0 && (
        <section aria-labelledby="requests">
          <h2 id="requests">Waiting for an answer</h2>
          <div class="cards">
            {run.requests.map((approval) => (
              <ApprovalCard key={approval.id} approval={approval} onDecided={reload} level={3} />
            ))}
          </div>
        </section>
      )}
      <Outcome run={run} />
      <BudgetTree budgets={run.budgets} />
      <Expected run={run} />
      <Charts run={run} />
      {run.children.length > 0 && (
        <section aria-labelledby="children">
          <h2 id="children">Child runs</h2>
          <RunsTable caption="Child runs" runs={run.children} />
        </section>
      )}
      <Steps run={run} />
    </>
  );
}

/** What lies before a run while it runs, in the words that every face has for it. */
function Outlook({ text }: { readonly text: string }): JSX.Element {
  return (
    <p class="outlook">
      {text.charAt(0).toUpperCase()}
      {text.slice(1)}.
    </p>
  );
}
