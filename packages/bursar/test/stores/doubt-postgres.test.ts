import type { Operation } from "bursar";
import { PostgresStore } from "bursar/postgres";
import postgres from "postgres";
import { afterAll, describe, expect, test } from "vitest";
import { givenServer } from "./server.js";
import { startWire } from "./wire.js";

const server = await givenServer();
let schemas = 0;
afterAll(async () => {
  const sql = postgres(server.url, { onnotice: () => {} });
  for (let at = 0; at < schemas; at++) {
    await sql.unsafe(`DROP SCHEMA IF EXISTS doubt_${process.pid}_${at} CASCADE`);
  }
  await sql.end();
  await server[Symbol.asyncDispose]();
});
const fresh = () => `doubt_${process.pid}_${schemas++}`;

const open = (id: string): Operation => ({
  op: "open",
  parent: null,
  opening: { id, scope: "shared", grant: { kind: "limits", limits: {} } },
});
const reserve = (budget: string, call: string): Operation => ({
  op: "reserve",
  budget,
  call,
  kind: "tool",
  asked: { steps: 1 } as never,
});
const put = (body: Record<string, string>, version: number): Operation => ({
  op: "put",
  kind: "run",
  id: "r",
  budget: null,
  status: "Running",
  body,
  version,
});

describe("of two who write the same while the answer of one is lost", () => {
  const lists: readonly (readonly [string, (owner: string) => readonly Operation[]])[] = [
    [
      "an entry of their journal, and documents of their own",
      (owner) => [
        { op: "journal", run: "r", key: "resume", entry: { taken: "over" } },
        put({ owner, taken: "over" }, 1),
      ],
    ],
    ["documents that are the same to the byte", () => [put({ taken: "over" }, 1)]],
  ];

  test.each(lists)("%s, one has done it", async (_name, list) => {
    const schema = fresh();
    await using wire = await startWire(server.url);
    await using mine = await PostgresStore.open({ url: wire.url, schema });
    await using other = await PostgresStore.open({ url: server.url, schema });
    await other.apply([put({ owner: "nobody" }, 0)]);
    const lost = new Promise<void>((resolve) => {
      let cutting = false;
      wire.cut = (piece) => {
        if (!cutting && piece.includes("taken")) {
          cutting = true;
          resolve();
        }
        return cutting;
      };
    });
    const late = mine.apply(list("mine")).then(
      () => "done",
      (error: Error) => error.name,
    );
    await lost;
    await other.apply(list("other"));
    wire.cut = () => false;
    expect(await late).toBe("StaleError");
  });
});

test("heads that others have moved are anchored where they are, and once", async () => {
  const schema = fresh();
  await using mine = await PostgresStore.open({ url: server.url, schema });
  await using other = await PostgresStore.open({ url: server.url, schema });
  await mine.apply([open("all")]);
  await other.apply([reserve("all", "a")]);
  const anchor = async () => (await mine.apply([{ op: "anchor" }]))[0].heads.map(({ chain, seq }) => `${chain}#${seq}`);
  expect(await anchor()).toEqual(["all#1"]);
  expect(await anchor()).toEqual([]);
  expect((await mine.head("bursar:tenant"))?.seq).toBe(0);
});

test("a server that falls silent is waited for as long as there is patience, and found again", async () => {
  const schema = fresh();
  await using wire = await startWire(server.url);
  const store = await PostgresStore.open({ url: wire.url, schema, patience_ms: 500 });
  await store.apply([open("all"), reserve("all", "a")]);
  store.watch(() => {});
  wire.silent = true;
  const began = performance.now();
  await expect(store.apply([reserve("all", "b")])).rejects.toMatchObject({ code: "store_down" });
  await expect(store.budget("all")).rejects.toMatchObject({ code: "store_down" });
  expect(performance.now() - began).toBeLessThan(10_000);
  wire.silent = false;
  await store.apply([reserve("all", "b")]);
  expect((await store.budget("all"))?.reserved.steps).toBe(2);
  wire.silent = true;
  const closing = performance.now();
  await store[Symbol.asyncDispose]();
  expect(performance.now() - closing).toBeLessThan(5000);
});

test("a list that names more calls than are remembered is settled", async () => {
  const schema = fresh();
  await using filling = await PostgresStore.open({ url: server.url, schema });
  await filling.apply([open("all")]);
  const ids = Array.from({ length: 20_050 }, (_, at) => `call-${at}`);
  for (let at = 0; at < ids.length; at += 2000) {
    await filling.apply(ids.slice(at, at + 2000).map((id) => reserve("all", id)));
  }
  await using store = await PostgresStore.open({ url: server.url, schema });
  await store.apply(ids.map((call) => ({ op: "release", call })));
  expect((await store.budget("all"))?.reserved.steps).toBe(0);
});

test("what was written is not kept in memory at length, and read again when it is needed", async () => {
  const schema = fresh();
  await using store = await PostgresStore.open({ url: server.url, schema });
  const large = { text: "x".repeat(100_000) };
  await store.apply([put(large, 0), { op: "journal", run: "r", key: "k", entry: large }]);
  const { mirror } = (store as unknown as { lanes: { mirror: Record<string, { get(key: string): unknown }> } }).lanes;
  expect(mirror.documents?.get("run\nr")).toBeUndefined();
  expect(mirror.entries?.get("r\nk")).toBeUndefined();
  const [again, document] = await store.apply([
    { op: "journal", run: "r", key: "k", entry: {} },
    { ...(put({}, 1) as Extract<Operation, { op: "put" }>) },
  ] as const);
  expect([again.repeated, again.entry.entry, document.document.version]).toEqual([true, large, 2]);
});

test("reading from a store that is closed says so", async () => {
  const store = await PostgresStore.open({ url: server.url, schema: fresh() });
  await store[Symbol.asyncDispose]();
  await expect(store.path("all")).rejects.toMatchObject({ code: "store_closed" });
});

test.each([
  ["batch", 0],
  ["batch", 1.5],
  ["connections", 0],
  ["connections", "4"],
])("%s cannot be %s", async (field, value) => {
  const opening = PostgresStore.open({ url: server.url, schema: fresh(), [field]: value });
  await expect(opening).rejects.toMatchObject({ name: "InputError", field });
});
