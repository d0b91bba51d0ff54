import type { Page, RunView, StepView } from "bursar/views";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useResource } from "../api/resource.js";
import { Empty, Ready } from "../parts/states.js";
import { queryOf } from "../router/route.js";
import { StepRow } from "./step-row.js";

const SHOWN = 100;

/** What a run has done, step by step; of a long run the last ones, and the others on demand. */
export function Steps({ run }: { readonly run: RunView }): JSX.Element {
  const [chosen, setChosen] = useState<number | null>(null);
  const from = chosen ?? Math.max(0, run.steps - SHOWN);
  const resource = useResource<Page<StepView>>(
    `runs/${encodeURIComponent(run.id)}/steps${queryOf({ from, limit: SHOWN })}`,
    (change) => change?.runs.includes(run.id) ?? true,
  );
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">Steps</h2>
      <Ready resource={resource} what="the steps">
        {({ items, next }) => (
          <>
            {items.length === 0 ? <Empty title="No step has been made yet." /> : <Timeline run={run} steps={items} />}
            <div class="pager">
              {from > 0 && (
                <button type="button" class="button" onClick={() => setChosen(Math.max(0, from - SHOWN))}>
                  Earlier steps
                </button>
              )}
              {next !== null && (
                <button type="button" class="button" onClick={() => setChosen(Number(next))}>
                  Later steps
                </button>
              )}
            </div>
          </>
        )}
      </Ready>
    </section>
  );
}

function Timeline({ run, steps }: { readonly run: RunView; readonly steps: readonly StepView[] }): JSX.Element {
  const start = steps[0]?.at ?? run.created;
  const end = Math.max(...steps.map(({ at, duration_ms }) => at + (duration_ms ?? 0)), start + 1);
  return (
    <table class="steps">
      <caption class="unseen">Steps in the order in which they were asked for</caption>
      <thead>
        <tr>
          <th scope="col" class="number">
            #
          </th>
          <th scope="col">Step</th>
          <th scope="col">State</th>
          <th scope="col" class="wide-only">
            When
          </th>
          <th scope="col" class="number wide-only">
            Took
          </th>
          <th scope="col" class="number">
            Cost
          </th>
          <th scope="col" class="number wide-only">
            Tokens
          </th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <StepRow key={step.number} step={step} start={start} end={end} />
        ))}
      </tbody>
    </table>
  );
}
