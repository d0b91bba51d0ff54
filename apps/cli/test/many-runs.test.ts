import { type Document, type DocumentKind, MemoryStore, type Store } from "bursar";
import { expect, test } from "vitest";
import { findRequest, findRun } from "../src/app/store/find-run.js";
import { latestIds, MOST_SEEN } from "../src/app/store/latest-ids.js";

const RUNS = 30_000;
const LISTS: ReadonlySet<string> = new Set(["documents", "latest", "oldest", "beginning"]);

/** A store that counts the documents that are read of it. */
function counting(store: Store) {
  const read = { count: 0 };
  const counted = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (!LISTS.has(String(name))) return value.bind(target);
      return async function* (...args: unknown[]) {
        for await (const document of Reflect.apply(value, target, args) as AsyncIterable<Document>) {
          read.count++;
          yield document;
        }
      };
    },
  });
  return { store: counted, read };
}

const padded = (number: number) => `${number}`.padStart(6, "0");

/** Each hundredth run belongs to a session, and each second one is below the one before it. */
async function filled() {
  const store = new MemoryStore();
  const put = (kind: DocumentKind, id: string, status: string, body: object) =>
    ({ op: "put", kind, id, budget: null, status, body: { ...body }, version: 0 }) as const;
  // The oldest has many below it.
  await store.apply([put("run", "b000000", "completed", { parent: null, session: null })]);
  for (let number = 0; number < 2000; number++) {
    const below = { parent: "b000000", session: null };
    await store.apply([put("run", `b000000.${number}`, "completed", below)]);
  }
  for (let at = 0; at < RUNS; at += 1000) {
    const some = Array.from({ length: 1000 }, (_, index) => at + index);
    const runs = some.map((number) =>
      number % 2 === 0
        ? put("run", `a${padded(number)}`, "completed", { parent: null, session: number % 100 === 0 ? "guild" : null })
        : put("run", `a${padded(number - 1)}.1`, "completed", { parent: `a${padded(number - 1)}`, session: null }),
    );
    const requests = some.map((number) =>
      put("approval", `a${padded(number)}/stop`, number === 5 ? "pending" : "approved", { run: `a${padded(number)}` }),
    );
    await store.apply([...runs, ...requests]);
  }
  return counting(store);
}

const { store, read } = await filled();
const ALL = { status: undefined, session: undefined, children: false, before: undefined, most: 20 };

async function reading<Value>(work: () => Promise<Value>): Promise<{ readonly value: Value; readonly count: number }> {
  const before = read.count;
  const value = await work();
  return { value, count: read.count - before };
}

test("a list of runs looks at so many, and says where to go on", async () => {
  const { value, count } = await reading(() => latestIds(store, ALL));
  expect(count).toBe(MOST_SEEN + 1);
  expect(value.ids).toHaveLength(20);
  expect(value.ids[0]).toBe(`a${padded(RUNS - 2)}`);
  expect(value).toMatchObject({ more: null, next: value.ids[19] });
  const { value: second } = await reading(() => latestIds(store, { ...ALL, before: value.next ?? "" }));
  expect(second.ids[0]).toBe(`a${padded(RUNS - 2 - 40)}`);
});

test("what follows is counted where all of it was looked at", async () => {
  const before = `a${padded(2000)}`;
  expect((await latestIds(store, { ...ALL, before })).more).toBe(1001 - 20);
  expect((await latestIds(store, { ...ALL, before, most: 1001 })).more).toBe(0);
  expect(await latestIds(store, { ...ALL, before: "a000000", most: 1 })).toEqual({
    ids: ["b000000"],
    more: 0,
    next: null,
  });
});

test("a filter finds all of a session, page by page, each of which is bounded", async () => {
  const found: string[] = [];
  let pages = 0;
  let before: string | undefined;
  do {
    const wanted = { ...ALL, session: "guild", before };
    const { value, count } = await reading(() => latestIds(store, wanted));
    expect(count).toBeLessThanOrEqual(MOST_SEEN + 1);
    found.push(...value.ids);
    before = value.next ?? undefined;
  } while (before !== undefined && ++pages < 100);
  expect(found).toHaveLength(RUNS / 100);
  expect(new Set(found).size).toBe(RUNS / 100);
  expect((await latestIds(store, { ...ALL, session: "nothing" })).ids).toEqual([]);
});

test("a run or a request is found by the beginning of its id without a look at the others", async () => {
  // Those below it are passed over, however many they are.
  const one = await reading(() => findRun(store, "b0"));
  expect([one.value.id, one.count]).toEqual(["b000000", 2]);
  expect((await reading(() => findRun(store, "b000000"))).count).toBe(0);
  const child = await reading(() => findRun(store, "a000002."));
  expect(child.value.id).toBe("a000002.1");
  const before = read.count;
  await expect(findRun(store, "a0")).rejects.toThrow(
    "is the beginning of more than one run: a000000, a000002, a000004",
  );
  await expect(findRun(store, "zzz")).rejects.toThrow("there is no run zzz");
  expect(read.count - before).toBeLessThan(20);
  const request = await reading(() => findRequest(store, "a00000"));
  expect([request.value.id, request.count]).toEqual(["a000005/stop", 1]);
});
