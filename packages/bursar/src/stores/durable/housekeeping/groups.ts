/** A stream of sorted rows, taken group by group of equal keys, so that neither the rows nor a group has to fit into memory. */
export class GroupedRows<Row> {
  private readonly source: AsyncIterator<Row>;
  private readonly keyOf: (row: Row) => string;
  private next: IteratorResult<Row> | null = null;

  constructor(rows: AsyncIterable<Row>, keyOf: (row: Row) => string) {
    this.source = rows[Symbol.asyncIterator]();
    this.keyOf = keyOf;
  }

  /** The key of the group that comes next; null at the end. */
  async key(): Promise<string | null> {
    this.next ??= await this.source.next();
    return this.next.done === true ? null : this.keyOf(this.next.value);
  }

  /** Hands out the next group. What its reader leaves is passed over. */
  async take(work: (key: string, group: AsyncIterable<Row>) => Promise<void>): Promise<void> {
    const key = await this.key();
    if (key === null) return;
    const rows = this.rows(key);
    await work(key, rows);
    for await (const _ of this.rows(key));
  }

  async close(): Promise<void> {
    await this.source.return?.();
  }

  private async *rows(key: string): AsyncGenerator<Row> {
    while (this.next !== null && this.next.done !== true && this.keyOf(this.next.value) === key) {
      const row = this.next.value;
      this.next = await this.source.next();
      yield row;
    }
  }
}

/** Hands out each group of equal keys of a stream of sorted rows. */
export async function eachGroup<Row>(
  rows: AsyncIterable<Row>,
  keyOf: (row: Row) => string,
  work: (key: string, group: AsyncIterable<Row>) => Promise<void>,
): Promise<void> {
  const grouped = new GroupedRows(rows, keyOf);
  try {
    while ((await grouped.key()) !== null) await grouped.take(work);
  } finally {
    await grouped.close();
  }
}
