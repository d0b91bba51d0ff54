import type { PredictedView, PredictionView } from "bursar/views";
import type { JSX } from "preact";
import { formatRough } from "../format/amount.js";
import { labelOf } from "../format/dimension.js";
import { Amount } from "../parts/amount.js";
import { DataTable, type TableColumn } from "../parts/data-table.js";
import { SOURCES } from "./expected.js";

/** What a run is predicted to take that has not begun, what does not fit first, and where that comes from. */
export function PredictionTable({ prediction }: { readonly prediction: PredictionView }): JSX.Element {
  const { dimensions, sources, notes } = prediction;
  const sorted = [...dimensions].sort((a, b) => Number(b.missing > 0) - Number(a.missing > 0));
  return (
    <div>
      <DataTable
        class="amounts prediction"
        caption="Predicted, against limits"
        rows={sorted}
        keyOf={({ dimension }) => dimension}
        rowClass={({ missing }) => (missing > 0 ? "exhausted" : "")}
        columns={COLUMNS}
      />
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

const COLUMNS: readonly TableColumn<PredictedView>[] = [
  {
    title: "Dimension",
    cell: ({ dimension, missing }) => (
      <>
        {labelOf(dimension)}
        {missing > 0 && <span class="tag">{formatRough(dimension, missing)} missing</span>}
      </>
    ),
  },
  { title: "Median", isNumber: true, cell: ({ dimension, median }) => formatRough(dimension, median) },
  { title: "95 %", isNumber: true, cell: ({ dimension, upper }) => formatRough(dimension, upper) },
  {
    title: "Limit",
    isNumber: true,
    cell: ({ dimension, limit }) =>
      limit === null ? <span class="note">none</span> : <Amount dimension={dimension} value={limit} />,
  },
  { title: "Says", isWideOnly: true, cell: ({ source }) => SOURCES[source] },
];
