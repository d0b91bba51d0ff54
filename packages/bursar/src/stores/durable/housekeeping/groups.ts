/**
 * Cuts a stream of sorted rows into groups of equal keys and hands each group out as a stream, so that neither the rows nor a
 * group has to fit into memory. What a group's reader leaves is passed over.
 */
export async function eachGroup<Row>(
  rows: AsyncIterable<Row>,
  keyOf: (row: Row) => string,
  work: (key: string, group: AsyncIterable<Row>) => Promise<void>,
): Promise<void> {
  const source = rows[Symbol.asyncIterator]();
  let next = await source.next();
  try {
    while (next.done !== true) {
      const key = keyOf(next.value);
      const group = async function* (): AsyncGenerator<Row> {
        while (next.done !== true && keyOf(next.value) === key) {
          const row = next.value;
          next = await source.next();
          yield row;
        }
      };
      await work(key, group());
      while (next.done !== true && keyOf(next.value) === key) next = await source.next();
    }
  } finally {
    await source.return?.();
  }
}
