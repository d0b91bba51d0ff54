import type { EstimateView } from "bursar/views";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { PredictionTable } from "../../panels/prediction-table.js";
import { Icon } from "../../parts/icon.js";

interface EstimateProps {
  readonly estimate: EstimateView;
  /** Whether something else is written by now. */
  readonly isOld: boolean;
}

/** What such a run would take, and whether that fits. */
export function Estimate({ estimate, isOld }: EstimateProps): JSX.Element {
  const { dimensions, opinions, notes, fits } = estimate;
  const panel = useRef<HTMLElement>(null);
  // On a phone it comes below what is in sight.
  useEffect(() => panel.current?.scrollIntoView({ block: "nearest" }), [estimate]);
  const isKnown = dimensions.length > 0;
  return (
    <section ref={panel} class="panel" aria-labelledby="estimate">
      <h2 id="estimate">Estimate</h2>
      {isKnown ? (
        <p>
          <span class={`badge ${fits ? "badge-good" : "badge-bad"}`}>
            <Icon name={fits ? "completed" : "failed"} />
            {fitText(estimate)}
          </span>
        </p>
      ) : (
        <p>{fitText(estimate)}</p>
      )}
      {isOld && <p class="fault">Something else is written by now: estimate it again.</p>}
      {isKnown && <PredictionTable prediction={{ dimensions, sources: opinions, notes }} />}
      {!isKnown &&
        notes.map((note) => (
          <p key={note} class="note">
            {note}
          </p>
        ))}
    </section>
  );
}

/** What it comes to, in one sentence. */
export function fitText({ dimensions, fits }: EstimateView): string {
  if (dimensions.length > 0) return fits ? "Expected to fit" : "Expected not to fit";
  return "Nobody can say yet what it will take: there are no past runs to go by, and the program states nothing itself.";
}
