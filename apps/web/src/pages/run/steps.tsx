import type { Page, RunView, StepView } from "bursar/views";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useResource } from "../../api/resource.js";
import { Empty, Ready } from "../../parts/states.js";
import { queryOf } from "../../router/route.js";
import { StepRow } from "./step-row.js";

const SHOWN = 100;
/** The most that the server gives at once. */
const MOST = 500;

/** What a run has done, step by step; of a long run the last ones, and the others on demand. */
export function Steps({ run }: { readonly run: RunView }): JSX.Element {
  const { resource, steps, isLatest, show } = useSteps(run);
  const first = steps[0]?.number ?? 0;
  const next = resource.value?.next ?? null;
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">Steps</h2>
      <Ready resource={resource} what="the steps">
        {() => (
          <>
            {steps.length === 0 ? <NoStep run={run} /> : <Timeline run={run} steps={steps} />}
            <div class="pager">
              {first > 0 && (
                <button type="button" class="button" onClick={() => show(Math.max(0, first - SHOWN))}>
                  Earlier steps
                </button>
              )}
              {!isLatest && next !== null && (
                <button type="button" class="button" onClick={() => show(Number(next))}>
                  Later steps
                </button>
              )}
              {!isLatest && (
                <button type="button" class="button" onClick={() => show(null)}>
                  Latest steps
                </button>
              )}
            </div>
          </>
        )}
      </Ready>
    </section>
  );
}

function NoStep({ run }: { readonly run: RunView }): JSX.Element {
  return <Empty title={run.ended === null ? "No step has been made yet." : "No step was made."} />;
}

/**
 * The steps from a chosen one on, or the latest. Steps bear numbers with gaps between them, so where the latest hundred begin is
 * found by reading on; what was read before stays in sight meanwhile.
 */
function useSteps(run: RunView) {
  const [chosen, setChosen] = useState<number | null>(null);
  const [latest, setLatest] = useState(Math.max(0, run.steps + run.refused - SHOWN));
  const isLatest = chosen === null;
  const read = useResource<Page<StepView>>(
    `runs/${encodeURIComponent(run.id)}/steps${queryOf({ from: chosen ?? latest, limit: isLatest ? MOST : SHOWN })}`,
    (change) => change?.runs.includes(run.id) ?? true,
  );
  const kept = useRef(read.value);
  if (read.value !== null) kept.current = read.value;
  const { value } = read;
  useEffect(() => {
    if (!isLatest || value === null || (value.next === null && value.items.length <= 2 * SHOWN)) return;
    setLatest(value.items.at(-SHOWN)?.number ?? 0);
  }, [isLatest, value]);
  const items = kept.current?.items ?? [];
  return {
    resource: { ...read, value: kept.current },
    steps: isLatest ? items.slice(-SHOWN) : items,
    isLatest,
    show: setChosen,
  };
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
