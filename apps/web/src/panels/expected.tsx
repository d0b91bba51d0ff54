import type { ExpectedView, RunView } from "bursar/views";
import type { JSX } from "preact";
import { formatRough } from "../format/amount.js";
import { inOrder, labelOf } from "../format/dimension.js";
import { Amount } from "../parts/amount.js";
import { Bar } from "../parts/bar.js";

/** Whose word a figure is. */
export const SOURCES: Readonly<Record<ExpectedView["source"], string>> = {
  program: "the program",
  history: "past runs",
  model: "a model",
};

/** What a run was expected to take, beside what it has used; nothing when nobody could say. */
export function Expected({ run }: { readonly run: RunView }): JSX.Element | null {
  if (run.expected.length === 0) return null;
  return (
    <section aria-labelledby="expected">
      <h2 id="expected">Expected</h2>
      <p class="legend">As many runs take more than the median as take less; 95 of 100 stay within the 95 %.</p>
      <table class="amounts">
        <caption class="unseen">What the run was expected to take, and what it has used</caption>
        <thead>
          <tr>
            <th scope="col">Dimension</th>
            <th scope="col" class="wide-only">
              <span class="unseen">Share of the 95 %</span>
            </th>
            <th scope="col" class="number">
              Used
            </th>
            <th scope="col" class="number">
              Median
            </th>
            <th scope="col" class="number">
              95 %
            </th>
            <th scope="col" class="wide-only">
              Says
            </th>
          </tr>
        </thead>
        <tbody>
          {inOrder(run.expected, ({ dimension }) => dimension).map((each) => (
            <Row key={each.dimension} view={each} used={Number(run.usage[each.dimension] ?? 0)} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ view, used }: { readonly view: ExpectedView; readonly used: number }): JSX.Element {
  const { dimension, median, upper, source } = view;
  const share = median > 0 && upper > 0 ? [Math.min(100, (median / upper) * 100)] : [];
  return (
    <tr class={used > upper ? "exhausted" : ""}>
      <th scope="row">
        {labelOf(dimension)}
        {used > upper && <span class="tag">more than expected</span>}
      </th>
      <td class="wide-only bar-cell">
        <Bar dimension={dimension} used={used} held={0} limit={upper} thresholds={share} />
      </td>
      <td class="number">
        <Amount dimension={dimension} value={used} />
      </td>
      <td class="number">{formatRough(dimension, median)}</td>
      <td class="number">{formatRough(dimension, upper)}</td>
      <td class="wide-only">{SOURCES[source]}</td>
    </tr>
  );
}
