import type { ExpectedView, RunView } from "bursar/views";
import type { JSX } from "preact";
import { formatRough } from "../format/amount.js";
import { inOrder, labelOf } from "../format/dimension.js";
import { Amount } from "../parts/amount.js";
import { Bar } from "../parts/bar.js";
import { DataTable, type TableColumn } from "../parts/data-table.js";

/** Whose word a figure is. */
export const SOURCES: Readonly<Record<ExpectedView["source"], string>> = {
  program: "the program",
  history: "past runs",
  model: "a model",
};

/** What a run was expected to take, beside what it has used; nothing when nobody could say. */
export function Expected({ run }: { readonly run: RunView }): JSX.Element | null {
  if (run.expected.length === 0) return null;
  const rows = inOrder(run.expected, ({ dimension }) => dimension).map((view) => ({
    ...view,
    used: Number(run.usage[view.dimension] ?? 0),
  }));
  return (
    <section aria-labelledby="expected">
      <h2 id="expected">Expected</h2>
      <p class="legend">As many runs take more than the median as take less; 95 of 100 stay within the 95 %.</p>
      <DataTable
        class="amounts"
        caption="What the run was expected to take, and what it has used"
        captionClass="unseen"
        rows={rows}
        keyOf={({ dimension }) => dimension}
        rowClass={({ used, upper }) => (used > upper ? "exhausted" : "")}
        columns={COLUMNS}
      />
    </section>
  );
}

const COLUMNS: readonly TableColumn<ExpectedView & { readonly used: number }>[] = [
  {
    title: "Dimension",
    cell: ({ dimension, used, upper }) => (
      <>
        {labelOf(dimension)}
        {used > upper && <span class="tag">more than expected</span>}
      </>
    ),
  },
  {
    title: "Share of the 95 %",
    isTitleHidden: true,
    isWideOnly: true,
    cellClass: "bar-cell",
    cell: ({ dimension, used, median, upper }) => {
      const share = median > 0 && upper > 0 ? [Math.min(100, (median / upper) * 100)] : [];
      return <Bar dimension={dimension} used={used} held={0} limit={upper} thresholds={share} />;
    },
  },
  { title: "Used", isNumber: true, cell: ({ dimension, used }) => <Amount dimension={dimension} value={used} /> },
  { title: "Median", isNumber: true, cell: ({ dimension, median }) => formatRough(dimension, median) },
  { title: "95 %", isNumber: true, cell: ({ dimension, upper }) => formatRough(dimension, upper) },
  { title: "Says", isWideOnly: true, cell: ({ source }) => SOURCES[source] },
];
