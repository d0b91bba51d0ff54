import type { BudgetView, DimensionView } from "bursar/views";
import type { JSX } from "preact";
import { percentOf } from "../format/amount.js";
import { inOrder, labelOf } from "../format/dimension.js";
import { Amount } from "../parts/amount.js";
import { Bar } from "../parts/bar.js";
import { DataTable, type TableColumn } from "../parts/data-table.js";
import { Instant } from "../parts/instant.js";

const OWNERS: Readonly<Record<BudgetView["owner"], string>> = {
  run: "This run's own",
  session: "Its session's",
  tenant: "Its tenant's",
  shared: "Shared with others",
  parent: "Its parent's",
};

/** The budgets that every call of a run has to fit into, each inside the one above. */
export function BudgetTree({ budgets }: { readonly budgets: readonly BudgetView[] }): JSX.Element {
  return (
    <section aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      <p class="legend">
        <span class="key key-used" /> used <span class="key key-held" /> held by calls under way{" "}
        <span class="key key-free" /> free
      </p>
      <Branch budgets={budgets} />
    </section>
  );
}

function Branch({ budgets }: { readonly budgets: readonly BudgetView[] }): JSX.Element | null {
  const [first, ...inner] = budgets;
  if (first === undefined) return null;
  return (
    <ul class="tree">
      <li>
        <BudgetTable view={first} title={OWNERS[first.owner]} />
        <Branch budgets={inner} />
      </li>
    </ul>
  );
}

/** Where every limit of a budget stands; what is held is neither used nor free, and has a column of its own. */
export function BudgetTable({ view, title }: { readonly view: BudgetView; readonly title: string }): JSX.Element {
  const { budget, dimensions } = view;
  if (dimensions.length === 0) {
    return (
      <p class="budget-title">
        {title} <span class="run-id">{budget}</span> <span class="note">limits nothing</span>
      </p>
    );
  }
  return (
    <DataTable
      class="amounts"
      caption={
        <>
          {title} <span class="run-id">{budget}</span>
        </>
      }
      captionClass="budget-title"
      rows={inOrder(dimensions, ({ dimension }) => dimension)}
      keyOf={({ dimension }) => dimension}
      rowClass={({ used, limit }) => (used >= limit ? "exhausted" : "")}
      columns={COLUMNS}
    />
  );
}

const COLUMNS: readonly TableColumn<DimensionView>[] = [
  {
    title: "Dimension",
    cell: ({ dimension, used, limit }) => (
      <>
        {labelOf(dimension)}
        {used >= limit && <span class="tag">exhausted</span>}
      </>
    ),
  },
  {
    title: "Share",
    isTitleHidden: true,
    isWideOnly: true,
    cellClass: "bar-cell",
    cell: (view) => <Bar {...view} />,
  },
  { title: "Used", isNumber: true, cell: ({ dimension, used }) => <Amount dimension={dimension} value={used} /> },
  {
    title: "Held",
    isNumber: true,
    cell: ({ dimension, held }) =>
      held > 0 ? <Amount dimension={dimension} value={held} /> : <span class="note">–</span>,
  },
  { title: "Limit", isNumber: true, cell: ({ dimension, limit }) => <Amount dimension={dimension} value={limit} /> },
  { title: "%", isNumber: true, isWideOnly: true, cell: ({ used, limit }) => percentOf(used, limit) },
  {
    title: "When exhausted",
    isWideOnly: true,
    cell: ({ policy, exhausted_at, used, limit }) => (
      <>
        {policy.replaceAll("_", " ")}
        {exhausted_at !== null && used < limit && (
          <span class="note">
            {" "}
            · at this rate <Instant at={exhausted_at} />
          </span>
        )}
      </>
    ),
  },
];
