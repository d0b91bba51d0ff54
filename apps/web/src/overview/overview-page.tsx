import type { Overview, RunRow } from "bursar/views";
import type { JSX } from "preact";
import { useResource } from "../api/resource.js";
import { ApprovalCard } from "../approvals/approval-card.js";
import { Heading } from "../parts/heading.js";
import { Empty, Ready } from "../parts/states.js";
import { ALL_RUNS, addressOf } from "../router/route.js";
import { RunsTable } from "../runs/runs-table.js";
import { StartLink } from "../start/start-link.js";
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
            <Runs title="Under way" runs={overview.active} empty="Nothing is running." />
            <Runs title="Ended lately" runs={overview.recent} empty="No run has ended yet." />
          </>
        )}
      </Ready>
    </>
  );
}

function Waiting({ overview, reload }: { readonly overview: Overview; readonly reload: () => void }): JSX.Element {
  const { waiting } = overview;
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waiting for an answer</h2>
      {waiting.length === 0 && <Empty title="Nothing waits for an answer." />}
      <div class="cards">
        {waiting.slice(0, CARDS).map((approval) => (
          <ApprovalCard key={approval.id} approval={approval} onDecided={reload} level={3} />
        ))}
      </div>
      {waiting.length > CARDS && (
        <p>
          <a href="/approvals">All {waiting.length} requests</a>
        </p>
      )}
    </section>
  );
}

interface RunsProps {
  readonly title: string;
  readonly runs: readonly RunRow[];
  readonly empty: string;
}

function Runs({ title, runs, empty }: RunsProps): JSX.Element {
  return (
    <section aria-label={title}>
      <div class="section-head">
        <h2>{title}</h2>
        <a href={addressOf({ kind: "runs", filter: ALL_RUNS })}>All runs</a>
      </div>
      {runs.length === 0 ? <Empty title={empty} /> : <RunsTable caption={title} runs={runs} />}
    </section>
  );
}
