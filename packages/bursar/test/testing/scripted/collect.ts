/** Everything that comes, in order. */
export async function collect<T>(all: AsyncIterable<T>): Promise<readonly T[]> {
  const seen: T[] = [];
  for await (const each of all) seen.push(each);
  return seen;
}
