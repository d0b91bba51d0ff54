import type { Overview } from "bursar/views";
import type { JSX } from "preact";
import { inOrder, labelOf } from "../../format/dimension.js";
import { Amount } from "../../parts/amount.js";
import { Status } from "../../parts/status.js";
import { ALL_RUNS, addressOf } from "../../router/route.js";

const SHOWN = ["running", "queued", "paused", "completed", "failed", "cancelled"] as const;
const SPENDING = 5;

/** Figures first: how many runs stand where, and what those under way have used. */
export function Tally({ overview }: { readonly overview: Overview }): JSX.Element {
  // What is only held so far has its place too, with nothing spent of it.
  const taken = { ...Object.fromEntries(Object.keys(overview.held).map((id) => [id, 0])), ...overview.spending };
  const spent = Object.entries(taken).filter(([id, value]) => Number(value) > 0 || overview.held[id] !== undefined);
  return (
    <div class="tally">
      <section class="panel" aria-label="Runs by status">
        <h2>Runs</h2>
        <ul class="figures">
          {/* All of them are counted, so that those below others have to be in the list too. */}
          {SHOWN.map((status) => (
            <li key={status}>
              <a href={addressOf({ kind: "runs", filter: { ...ALL_RUNS, status, children: "true" } })}>
                <span class="figure">{overview.runs[status].toLocaleString("en-US")}</span>
                <Status status={status} />
              </a>
            </li>
          ))}
        </ul>
      </section>
      <section class="panel" aria-label="Used by runs under way">
        <h2>Used by runs under way</h2>
        {spent.length === 0 && <p class="note">Nothing.</p>}
        <dl class="figures">
          {inOrder(spent, ([dimension]) => dimension)
            .slice(0, SPENDING)
            .map(([dimension, value]) => (
              <div key={dimension}>
                <dd class="figure">
                  <Amount dimension={dimension} value={Number(value)} />
                </dd>
                <dt>
                  {labelOf(dimension)}
                  <Held held={overview.held} dimension={dimension} />
                </dt>
              </div>
            ))}
          {overview.saved_usd > 0 && (
            <div>
              <dd class="figure saved">
                <Amount dimension="cost_usd" value={overview.saved_usd} />
              </dd>
              <dt>Saved</dt>
            </div>
          )}
        </dl>
      </section>
    </div>
  );
}

interface HeldProps {
  readonly held: Overview["held"];
  readonly dimension: string;
}

/** What calls under way hold is neither spent nor free. */
function Held({ held, dimension }: HeldProps): JSX.Element | null {
  const value = held[dimension];
  if (typeof value !== "number") return null;
  return (
    <span class="note">
      {" "}
      and <Amount dimension={dimension} value={value} /> held
    </span>
  );
}
