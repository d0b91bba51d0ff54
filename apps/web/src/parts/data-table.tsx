import { type ComponentChildren, Fragment, type JSX } from "preact";

/** One column of a table; the first one names the row. */
export interface TableColumn<Row> {
  readonly title: string;
  /** The title is for screen readers alone. */
  readonly isTitleHidden?: boolean;
  /** Figures are aligned by their last digit. */
  readonly isNumber?: boolean;
  /** Narrow screens leave the column out. */
  readonly isWideOnly?: boolean;
  /** A further class of its cells. */
  readonly cellClass?: string;
  readonly cell: (row: Row) => ComponentChildren;
}

interface DataTableProps<Row> {
  readonly caption: ComponentChildren;
  /** A class of the caption; `unseen` where a heading says the same. */
  readonly captionClass?: string;
  readonly class?: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, index: number) => string | number;
  readonly rowClass?: (row: Row) => string;
  /** What stands below a row, over its whole width. */
  readonly below?: (row: Row) => ComponentChildren;
}

/** A table with a caption, a heading for each column and one for each row. */
export function DataTable<Row>(props: DataTableProps<Row>): JSX.Element {
  const { caption, captionClass, columns, rows, keyOf, rowClass, below } = props;
  return (
    <table class={props.class}>
      <caption class={captionClass}>{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.title} scope="col" class={classOf(column)}>
              {column.isTitleHidden === true ? <span class="unseen">{column.title}</span> : column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, position) => (
          <Fragment key={keyOf(row, position)}>
            <tr class={rowClass?.(row)}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.title} scope="row" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.title} class={classOf(column, column.cellClass)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
            {below !== undefined && (
              <tr class="step-more">
                <td colSpan={columns.length}>{below(row)}</td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
}

function classOf<Row>({ isNumber, isWideOnly }: TableColumn<Row>, cellClass?: string): string | undefined {
  const classes = [isNumber === true && "number", isWideOnly === true && "wide-only", cellClass].filter(Boolean);
  return classes.length === 0 ? undefined : classes.join(" ");
}
