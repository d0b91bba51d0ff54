import type { RunView } from "bursar/views";
import type { ComponentChildren, JSX } from "preact";
import { nounOf } from "../../format/dimension.js";
import { formatDuration, formatInstant } from "../../format/time.js";
import { Amount } from "../../parts/amount.js";
import { Copyable } from "../../parts/copy.js";
import { Instant } from "../../parts/instant.js";
import { ALL_RUNS, addressOf, runAddress } from "../../router/route.js";

export function RunFacts({ run }: { readonly run: RunView }): JSX.Element {
  const handed = run.pause?.batches?.length ?? 0;
  return (
    <dl class="facts">
      <Fact label="Id">
        <Copyable text={run.id} what="Id" />
      </Fact>
      <Fact label="Kind">{run.program.kind}</Fact>
      <Fact label="Started">
        <Instant at={run.created} /> <span class="note">by {run.started_by}</span>
      </Fact>
      {run.ended !== null && (
        <Fact label="Ended">
          <span title={formatInstant(run.ended)}>after {formatDuration(run.ended - run.created)}</span>
        </Fact>
      )}
      {run.session !== null && (
        <Fact label="Session">
          <a href={addressOf({ kind: "runs", filter: { ...ALL_RUNS, session: run.session } })}>{run.session}</a>
        </Fact>
      )}
      {run.parent !== null && (
        <Fact label="Parent">
          <a href={runAddress(run.parent)}>{run.parent}</a>
        </Fact>
      )}
      {run.worker !== null && (
        <Fact label={run.interrupted ? "Last driven by" : "Driven by"}>
          {run.worker.name}
          {run.interrupted && (
            <span class="note"> It is gone, and the clock stands still; the next worker goes on with the run.</span>
          )}
        </Fact>
      )}
      {run.cancel !== null && (
        <Fact label={run.denied === null ? "Cancelled by" : "Denied by"}>
          {run.cancel.by}
          {run.denied !== null && <span class="note"> more {nounOf(run.denied.dimension)}</span>}
          {run.cancel.reason !== null && <span class="note"> “{run.cancel.reason}”</span>}
        </Fact>
      )}
      {run.pause?.problem !== undefined && (
        <Fact label="Stands still">
          <span class="fault">{run.pause.problem}</span>
        </Fact>
      )}
      {run.missing.length > 0 && (
        <Fact label="Missing here">
          {run.missing.join("; ")}
          <span class="note"> This server cannot go on with the run; a worker that has it does.</span>
        </Fact>
      )}
      {handed > 0 && (
        <Fact label="Waits for">
          {handed.toLocaleString("en-US")} {handed === 1 ? "call" : "calls"} in a batch
        </Fact>
      )}
      {run.saved_usd > 0 && (
        <Fact label="Saved">
          <span class="saved">
            <Amount dimension="cost_usd" value={run.saved_usd} />
          </span>
        </Fact>
      )}
      <Fact label="Steps">
        {run.steps.toLocaleString("en-US")}
        {run.refused > 0 && <span class="note"> and {run.refused.toLocaleString("en-US")} refused</span>}
      </Fact>
    </dl>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
