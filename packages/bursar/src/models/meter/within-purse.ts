import { type Purse, withPurse } from "../../runtime/purse.js";

/** The same values, each of them made inside a purse: what an iterator does happens when it is asked for the next one. */
export function withinPurse<Value>(purse: Purse, values: () => AsyncIterable<Value>): AsyncIterable<Value> {
  return {
    [Symbol.asyncIterator]: () => {
      const each = withPurse(purse, () => values()[Symbol.asyncIterator]());
      return {
        next: () => withPurse(purse, () => each.next()),
        return: async (value?: unknown) =>
          withPurse(purse, () => each.return?.(value) ?? { done: true as const, value: undefined }),
      };
    },
  };
}
