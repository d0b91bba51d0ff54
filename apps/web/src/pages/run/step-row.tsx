import type { StepView } from "bursar/views";
import type { JSX } from "preact";
import { formatAmount } from "../../format/amount.js";
import { inOrder, labelOf } from "../../format/dimension.js";
import { formatClock, formatDuration } from "../../format/time.js";
import { Amount } from "../../parts/amount.js";
import { Status } from "../../parts/status.js";
import { Execution } from "./execution.js";

interface StepRowProps {
  readonly step: StepView;
  /** The time that is shown: from the first step's start to the last one's end. */
  readonly start: number;
  readonly end: number;
}

/** A step, where it lies in time, and what it cost; below it what the sandbox had to say. */
export function StepRow({ step, start, end }: StepRowProps): JSX.Element {
  const { number, capability, state, at, duration_ms, problem, execution, estimated } = step;
  const others = otherUsage(step);
  const hasMore = problem !== null || execution !== null;
  return (
    <>
      <tr class={hasMore ? "step-continued" : ""}>
        <td class="number">{number}</td>
        <th scope="row">
          {capability}
          {others !== "" && <span class="run-id">{others}</span>}
        </th>
        <td>
          <Status status={state} />
        </td>
        <td class="wide-only time-cell">
          <Span at={at} duration_ms={duration_ms} start={start} end={end} />
        </td>
        <td class="number wide-only">{duration_ms === null ? "" : formatDuration(duration_ms)}</td>
        <td class="number">
          <Used step={step} dimension="cost_usd" />
          {estimated && <span class="note"> estimated</span>}
        </td>
        <td class="number wide-only">
          <Used step={step} dimension="llm_tokens" />
        </td>
      </tr>
      {hasMore && (
        <tr class="step-more">
          <td />
          <td colSpan={6}>
            {problem !== null && <p class={state === "failed" ? "fault" : "note"}>{problem}</p>}
            {execution !== null && <Execution execution={execution} />}
          </td>
        </tr>
      )}
    </>
  );
}

interface SpanProps {
  readonly at: number;
  readonly duration_ms: number | null;
  readonly start: number;
  readonly end: number;
}

const NARROWEST = 0.5;

function Span({ at, duration_ms, start, end }: SpanProps): JSX.Element {
  const whole = end - start;
  const left = Math.min(((at - start) / whole) * 100, 100 - NARROWEST);
  const width = Math.max(((duration_ms ?? 0) / whole) * 100, NARROWEST);
  return (
    <div class="span" title={formatClock(at)}>
      <span class="unseen">{formatDuration(at - start)} after the first step shown</span>
      <span class="span-bar" style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }} />
    </div>
  );
}

function Used({ step, dimension }: { readonly step: StepView; readonly dimension: string }): JSX.Element {
  const value = step.used[dimension];
  return typeof value === "number" ? <Amount dimension={dimension} value={value} /> : <span class="note">–</span>;
}

/** Everything it used that has no column of its own. */
function otherUsage({ used }: StepView): string {
  const own = new Set(["cost_usd", "llm_tokens", "steps", "wall_clock_ms"]);
  const others = Object.entries(used).filter(
    ([dimension, value]) => !own.has(dimension) && typeof value === "number" && value > 0,
  );
  return inOrder(others, ([dimension]) => dimension)
    .map(([dimension, value]) => `${labelOf(dimension).toLowerCase()} ${formatAmount(dimension, Number(value))}`)
    .join(" · ");
}
