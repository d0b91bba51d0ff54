import type { DimensionView, RunRow } from "bursar/views";
import type { JSX } from "preact";
import { labelOf } from "../format/dimension.js";
import { shortId } from "../format/id.js";
import { formatDuration } from "../format/time.js";
import { Amount } from "../parts/amount.js";
import { Bar } from "../parts/bar.js";
import { Instant } from "../parts/instant.js";
import { Status } from "../parts/status.js";
import { runAddress } from "../router/route.js";

interface RunsTableProps {
  readonly caption: string;
  readonly runs: readonly RunRow[];
}

export function RunsTable({ caption, runs }: RunsTableProps): JSX.Element {
  return (
    <table class="runs">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Status</th>
          <th scope="col">Tightest limit</th>
          <th scope="col" class="number wide-only">
            Cost
          </th>
          <th scope="col" class="number wide-only">
            Tokens
          </th>
          <th scope="col" class="wide-only">
            Session
          </th>
          <th scope="col" class="wide-only">
            Started
          </th>
          <th scope="col" class="number wide-only">
            Took
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <Row key={run.id} run={run} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ run }: { readonly run: RunRow }): JSX.Element {
  return (
    <tr>
      <th scope="row">
        <a href={runAddress(run.id)} data-item class="run-name">
          {run.program.name}
        </a>
        <span class="run-id" title={run.id}>
          {shortId(run.id)}
        </span>
      </th>
      <td>
        <Status status={run.interrupted ? "interrupted" : run.denied === null ? run.status : "denied"} />
        {run.waiting.length > 0 && <span class="note waits">waits for an answer</span>}
      </td>
      <td>{run.tightest === null ? <span class="note">no limit</span> : <Tightest view={run.tightest} />}</td>
      <td class="number wide-only">
        <Used run={run} dimension="cost_usd" />
      </td>
      <td class="number wide-only">
        <Used run={run} dimension="llm_tokens" />
      </td>
      <td class="wide-only">{run.session ?? <span class="note">none</span>}</td>
      <td class="wide-only">
        <Instant at={run.created} />
      </td>
      <td class="number wide-only">{run.ended === null ? "" : formatDuration(run.ended - run.created)}</td>
    </tr>
  );
}

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
