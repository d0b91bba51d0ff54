import type { DimensionView, RunRow } from "bursar/views";
import type { JSX } from "preact";
import { labelOf } from "../format/dimension.js";
import { shortId } from "../format/id.js";
import { formatDuration } from "../format/time.js";
import { Amount } from "../parts/amount.js";
import { Bar } from "../parts/bar.js";
import { DataTable, type TableColumn } from "../parts/data-table.js";
import { Instant } from "../parts/instant.js";
import { Status } from "../parts/status.js";
import { runAddress } from "../router/route.js";

interface RunsTableProps {
  readonly caption: string;
  readonly runs: readonly RunRow[];
}

export function RunsTable({ caption, runs }: RunsTableProps): JSX.Element {
  return (
    <DataTable
      class="runs"
      caption={caption}
      captionClass="unseen"
      rows={runs}
      keyOf={({ id }) => id}
      columns={COLUMNS}
    />
  );
}

const COLUMNS: readonly TableColumn<RunRow>[] = [
  {
    title: "Run",
    cell: ({ id, program }) => (
      <>
        <a href={runAddress(id)} data-item class="run-name">
          {program.name}
        </a>
        <span class="run-id" title={id}>
          {shortId(id)}
        </span>
      </>
    ),
  },
  {
    title: "Status",
    cell: (run) => (
      <>
        <Status status={run.interrupted ? "interrupted" : run.denied === null ? run.status : "denied"} />
        {run.waiting.length > 0 && <span class="note waits">waits for an answer</span>}
      </>
    ),
  },
  {
    title: "Tightest limit",
    cell: ({ tightest }) => (tightest === null ? <span class="note">no limit</span> : <Tightest view={tightest} />),
  },
  { title: "Cost", isNumber: true, isWideOnly: true, cell: (run) => <Used run={run} dimension="cost_usd" /> },
  { title: "Tokens", isNumber: true, isWideOnly: true, cell: (run) => <Used run={run} dimension="llm_tokens" /> },
  { title: "Session", isWideOnly: true, cell: ({ session }) => session ?? <span class="note">none</span> },
  { title: "Started", isWideOnly: true, cell: ({ created }) => <Instant at={created} /> },
  {
    title: "Took",
    isNumber: true,
    isWideOnly: true,
    cell: ({ created, ended }) => (ended === null ? "" : formatDuration(ended - created)),
  },
];

function Tightest({ view }: { readonly view: DimensionView }): JSX.Element {
  const { dimension, used, held, limit } = view;
  return (
    <div class="tightest">
      <span class="tightest-text">
        {labelOf(dimension)} <Amount dimension={dimension} value={used} /> /{" "}
        <Amount dimension={dimension} value={limit} />
        {held > 0 && <Held dimension={dimension} value={held} />}
      </span>
      <Bar {...view} />
    </div>
  );
}

function Used({ run, dimension }: { readonly run: RunRow; readonly dimension: string }): JSX.Element {
  const [value, held] = [run.usage[dimension], run.held[dimension]];
  if (typeof value !== "number" && typeof held !== "number") return <span class="note">–</span>;
  return (
    <>
      <Amount dimension={dimension} value={Number(value ?? 0)} />
      {typeof held === "number" && <Held dimension={dimension} value={held} />}
    </>
  );
}

/** What calls under way hold is neither spent nor free, and stands below. */
function Held({ dimension, value }: { readonly dimension: string; readonly value: number }): JSX.Element {
  return (
    <span class="note held">
      + <Amount dimension={dimension} value={value} /> held
    </span>
  );
}
