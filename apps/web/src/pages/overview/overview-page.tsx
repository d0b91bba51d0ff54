import type { Overview, RunRow } from "bursar/views";
import type { ComponentChildren, JSX } from "preact";
import { useResource } from "../../api/resource.js";
import { ApprovalCard } from "../../panels/approval-card.js";
import { RunsTable } from "../../panels/runs-table.js";
import { StartLink } from "../../panels/start-link.js";
import { Heading } from "../../parts/heading.js";
import { Empty, Ready } from "../../parts/states.js";
import { ALL_RUNS, addressOf } from "../../router/route.js";
import { Tally } from "./tally.js";

const CARDS = 3;

/** What is running, spending and waiting. */
export function OverviewPage(): JSX.Element {
  const resource = useResource<Overview>("overview");
  return (
    <>
      <Heading title="Overview">
        <StartLink />
      </Heading>
      <Ready resource={resource} what="the overview">
        {(overview) => (
          <>
            <Tally overview={overview} />
            <Waiting overview={overview} reload={resource.reload} />
            <Runs title="Under way" runs={overview.active} empty="Nothing is running.">
              <Rest overview={overview} />
            </Runs>
            <Runs title="Ended lately" runs={overview.recent} empty="No run has ended yet." />
          </>
        )}
      </Ready>
    </>
  );
}

function Waiting({ overview, reload }: { readonly overview: Overview; readonly reload: () => void }): JSX.Element {
  const { waiting, waiting_count } = overview;
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waiting for an answer</h2>
      {waiting.length === 0 && <Empty title="Nothing waits for an answer." />}
      <div class="cards">
        {waiting.slice(0, CARDS).map((approval) => (
          <ApprovalCard key={approval.id} approval={approval} onDecided={reload} level={3} />
        ))}
      </div>
      {waiting_count > CARDS && (
        <p>
          <a href="/approvals">All {waiting_count.toLocaleString("en-US")} requests</a>
        </p>
      )}
    </section>
  );
}

interface RunsProps {
  readonly title: string;
  readonly runs: readonly RunRow[];
  readonly empty: string;
  /** What stands below the table. */
  readonly children?: ComponentChildren;
}

function Runs({ title, runs, empty, children }: RunsProps): JSX.Element {
  return (
    <section aria-label={title}>
      <div class="section-head">
        <h2>{title}</h2>
        <a href={addressOf({ kind: "runs", filter: ALL_RUNS })}>All runs</a>
      </div>
      {runs.length === 0 ? <Empty title={empty} /> : <RunsTable caption={title} runs={runs} />}
      {children}
    </section>
  );
}

const UNENDED = ["running", "paused", "queued"] as const;

/** Of many runs that are under way the first are shown; this says so, and leads to the others. */
function Rest({ overview }: { readonly overview: Overview }): JSX.Element | null {
  const { active, active_count, active_more } = overview;
  if (active.length >= active_count && !active_more) return null;
  const links = UNENDED.map((status) => (
    <a key={status} href={addressOf({ kind: "runs", filter: { ...ALL_RUNS, status } })}>
      {status}
    </a>
  ));
  return (
    <p class="note">
      {active.length} of {active_more && "at least "}
      {active_count.toLocaleString("en-US")} are shown. All that are {links[0]}, {links[1]} or {links[2]}
    </p>
  );
}
