import fc from "fast-check";
import { expect, test } from "vitest";
import type { Amount } from "../../src/core/amount.js";
import { Operations } from "../../src/core/apply.js";
import type { Books } from "../../src/core/books.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { type Changes, Draft } from "../../src/core/draft.js";
import { MemoryBooks } from "../../src/core/memory-books.js";
import type { Operation } from "../../src/core/operation.js";
import { sha256Hex } from "../../src/index.js";

const operations = new Operations(STANDARD);
const TIME = { instant: 1000, monotonic: 5 };
const IDS = ["a", "b", "c"];

const id = fc.constantFrom(...IDS);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  id.map((call): Operation => ({ op: "reserve", budget: "run", call, kind: "tool", asked: { steps: 1 as Amount } })),
  id.map((call): Operation => ({ op: "commit", call, used: { steps: 2 as Amount } })),
  id.map((call): Operation => ({ op: "release", call })),
  id.map((key): Operation => ({ op: "journal", run: "run", key, entry: { key } })),
  fc.tuple(id, fc.nat(2)).map(
    ([name, version]): Operation => ({
      op: "put",
      kind: "run",
      id: name,
      budget: null,
      status: "s",
      body: {},
      version,
    }),
  ),
  fc.constant<Operation>({ op: "record", budget: "run", action: { action_type: "Noted", data: {} } }),
  fc.constant<Operation>({ op: "anchor" }),
  // Fails whatever was done before it.
  fc.constant<Operation>({ op: "pause", budget: "nothing" }),
);

function opened(): MemoryBooks {
  const books = new MemoryBooks(sha256Hex);
  const grant = { kind: "limits", limits: { steps: 1000 as Amount } } as const;
  const open = { op: "open", parent: null, opening: { id: "run", scope: "run", grant } } as const;
  books.transact(TIME.instant, (draft) => operations.apply(draft, open, TIME));
  return books;
}

/** Whether a list was done as a whole. */
function isDone(draft: Draft, list: readonly Operation[]): boolean {
  try {
    draft.within(TIME.instant, (books: Books) => list.map((each) => operations.apply(books, each, TIME)));
    return true;
  } catch {
    return false;
  }
}

function written(changes: Changes): unknown {
  return Object.fromEntries(Object.entries(changes).map(([what, map]) => [what, [...map]]));
}

test("what a caller has written in a draft that others share is taken back where its list fails", () => {
  const lists = fc.array(fc.array(operation, { minLength: 1, maxLength: 6 }), { maxLength: 12 });
  fc.assert(
    fc.property(lists, (all) => {
      const shared = new Draft(opened(), sha256Hex, TIME.instant);
      const done = all.filter((list) => isDone(shared, list));
      const alone = new Draft(opened(), sha256Hex, TIME.instant);
      expect(done.every((list) => isDone(alone, list))).toBe(true);
      expect(written(shared.changes)).toEqual(written(alone.changes));
    }),
    { numRuns: 500 },
  );
});
