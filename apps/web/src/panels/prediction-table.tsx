import type { PredictedView, PredictionView } from "bursar/views";
import type { JSX } from "preact";
import { formatRough } from "../format/amount.js";
import { labelOf } from "../format/dimension.js";
import { Amount } from "../parts/amount.js";
import { SOURCES } from "./expected.js";

/** What a run is predicted to take that has not begun, what does not fit first, and where that comes from. */
export function PredictionTable({ prediction }: { readonly prediction: PredictionView }): JSX.Element {
  const { dimensions, sources, notes } = prediction;
  const sorted = [...dimensions].sort((a, b) => Number(b.missing > 0) - Number(a.missing > 0));
  return (
    <div>
      <table class="amounts prediction">
        <caption>Predicted, against limits</caption>
        <thead>
          <tr>
            <th scope="col">Dimension</th>
            <th scope="col" class="number">
              Median
            </th>
            <th scope="col" class="number">
              95 %
            </th>
            <th scope="col" class="number">
              Limit
            </th>
            <th scope="col" class="wide-only">
              Says
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((each) => (
            <Row key={each.dimension} view={each} />
          ))}
        </tbody>
      </table>
      <ul class="sources">
        {sources.map(({ source, about }) => (
          <li key={source} class="note">
            From {SOURCES[source]}: {about}.
          </li>
        ))}
        {notes.map((note) => (
          <li key={note} class="note">
            {note}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Row({ view }: { readonly view: PredictedView }): JSX.Element {
  const { dimension, median, upper, limit, missing, source } = view;
  return (
    <tr class={missing > 0 ? "exhausted" : ""}>
      <th scope="row">
        {labelOf(dimension)}
        {missing > 0 && <span class="tag">{formatRough(dimension, missing)} missing</span>}
      </th>
      <td class="number">{formatRough(dimension, median)}</td>
      <td class="number">{formatRough(dimension, upper)}</td>
      <td class="number">
        {limit === null ? <span class="note">none</span> : <Amount dimension={dimension} value={limit} />}
      </td>
      <td class="wide-only">{SOURCES[source]}</td>
    </tr>
  );
}
