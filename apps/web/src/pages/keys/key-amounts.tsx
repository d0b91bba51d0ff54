import type { DimensionView, PaidView } from "bursar/views";
import type { JSX } from "preact";
import { formatAmount } from "../../format/amount.js";
import { inOrder, labelOf } from "../../format/dimension.js";
import { Amount } from "../../parts/amount.js";
import { Bar } from "../../parts/bar.js";

/** How a key's budget stands, and what it has saved, if that is something. */
export function KeyAmounts({ view }: { readonly view: PaidView }): JSX.Element {
  return (
    <>
      <Standing view={view} />
      {view.saved_usd > 0 && (
        <p class="note">
          Saved{" "}
          <span class="saved">
            <Amount dimension="cost_usd" value={view.saved_usd} />
          </span>
        </p>
      )}
    </>
  );
}

/** Where each limit stands; of a budget without any, what it has used. */
function Standing({ view }: { readonly view: PaidView }): JSX.Element {
  if (view.dimensions.length === 0) return <p class="note">{usedText(view)}, no limit of its own</p>;
  return (
    <ul class="paid">
      {inOrder(view.dimensions, ({ dimension }) => dimension).map((each) => (
        <Line key={each.dimension} view={each} />
      ))}
    </ul>
  );
}

function Line({ view }: { readonly view: DimensionView }): JSX.Element {
  const { dimension, used, held, limit } = view;
  return (
    <li>
      <span>{labelOf(dimension)}</span>
      <Bar {...view} />
      <span>
        <Amount dimension={dimension} value={used} /> used
        {held > 0 && (
          <>
            , <Amount dimension={dimension} value={held} /> held
          </>
        )}{" "}
        of <Amount dimension={dimension} value={limit} />
        {used >= limit && <span class="tag">exhausted</span>}
      </span>
    </li>
  );
}

/** A clock that nobody has limited runs anyway, and says nothing of what a key was used for. */
function usedText({ usage }: PaidView): string {
  const used = Object.entries(usage).filter(
    ([dimension, amount]) => dimension !== "wall_clock_ms" && Number(amount) > 0,
  );
  const parts = inOrder(used, ([dimension]) => dimension).map(
    ([dimension, amount]) => `${labelOf(dimension).toLowerCase()} ${formatAmount(dimension, Number(amount))}`,
  );
  return parts.length === 0 ? "Nothing used" : `Used: ${parts.join(" · ")}`;
}
