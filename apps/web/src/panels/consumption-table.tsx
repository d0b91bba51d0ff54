import type { JsonObject } from "bursar/chain";
import type { JSX } from "preact";
import { percentOf } from "../format/amount.js";
import { inOrder, labelOf } from "../format/dimension.js";
import { Amount } from "../parts/amount.js";
import { Bar } from "../parts/bar.js";
import { DataTable, type TableColumn } from "../parts/data-table.js";

interface ConsumptionTableProps {
  readonly consumed: JsonObject;
  readonly held: JsonObject;
  readonly limits: JsonObject;
  readonly exhausted: string | null;
}

/** Consumption against limits, as it stood when the question was asked. */
export function ConsumptionTable({ consumed, held, limits, exhausted }: ConsumptionTableProps): JSX.Element {
  const limited = Object.keys(limits).filter((dimension) => typeof limits[dimension] === "number");
  const isTelling = (dimension: string) =>
    dimension === exhausted || numberOf(consumed[dimension]) > 0 || numberOf(held[dimension]) > 0;
  const rows = inOrder(limited.filter(isTelling), (dimension) => dimension);
  const unused = limited.filter((dimension) => !isTelling(dimension));
  // Mostly nothing is held, and then phones need not find room for it.
  const isHeld = rows.some((dimension) => numberOf(held[dimension]) > 0);
  const usedOf = (dimension: string) => numberOf(consumed[dimension]);
  const limitOf = (dimension: string) => numberOf(limits[dimension]);
  const columns: readonly TableColumn<string>[] = [
    {
      title: "Dimension",
      cell: (dimension) => (
        <>
          {labelOf(dimension)}
          {dimension === exhausted && <span class="tag">asked for</span>}
        </>
      ),
    },
    {
      title: "Share",
      isTitleHidden: true,
      isWideOnly: true,
      cellClass: "bar-cell",
      cell: (dimension) => (
        <Bar
          dimension={dimension}
          used={usedOf(dimension)}
          held={numberOf(held[dimension])}
          limit={limitOf(dimension)}
        />
      ),
    },
    {
      title: "Used",
      isNumber: true,
      cell: (dimension) => <Amount dimension={dimension} value={usedOf(dimension)} />,
    },
    {
      title: "Held",
      isNumber: true,
      cell: (dimension) => <Amount dimension={dimension} value={numberOf(held[dimension])} />,
    },
    {
      title: "Limit",
      isNumber: true,
      cell: (dimension) => <Amount dimension={dimension} value={limitOf(dimension)} />,
    },
    { title: "%", isNumber: true, cell: (dimension) => percentOf(usedOf(dimension), limitOf(dimension)) },
  ];
  return (
    <div>
      <DataTable
        class="amounts"
        caption={`${isHeld ? "Used and held" : "Used"}, against limits, when it was asked`}
        rows={rows}
        keyOf={(dimension) => dimension}
        rowClass={(dimension) => (dimension === exhausted ? "exhausted" : "")}
        columns={isHeld ? columns : columns.filter(({ title }) => title !== "Held")}
      />
      {unused.length > 0 && (
        <p class="note">Nothing used of: {unused.map((dimension) => labelOf(dimension).toLowerCase()).join(", ")}.</p>
      )}
    </div>
  );
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
