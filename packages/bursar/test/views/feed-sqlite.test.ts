import { join } from "node:path";
import { defineAgent, openBursar } from "bursar";
import { SqliteStore } from "bursar/sqlite";
import { FakeClock } from "bursar/testing";
import { Feed, listRuns, overview, runView } from "bursar/views";
import { expect, test } from "vitest";
import { temporaryFolder } from "../stores/folder.js";

const speaker = defineAgent("speaker", async () => "done");

/** Lets the timers of a feed ring until something is so. */
async function until(timer: FakeClock, isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    timer.advance(500);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test("two processes on one file: what one does, listeners of the other hear", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "bursar.db");
  await using mine = await SqliteStore.open({ path });
  await using theirs = await SqliteStore.open({ path });
  const timer = new FakeClock();
  const faults: unknown[] = [];
  using feed = new Feed({ store: mine, timer, failed: (error) => faults.push(error) });
  const told = new Set<string>();
  using _ = feed.changes(({ runs, approvals }) => {
    for (const id of [...runs, ...approvals]) told.add(id);
  });
  await feed.ready();

  await using other = openBursar({ store: theirs, programs: [speaker] });
  await other.start("speaker", null, { id: "r" });
  await until(timer, () => told.has("r"));

  told.clear();
  await other.drive("r");
  await until(timer, () => told.has("r"));
  const links = ((await theirs.head("r"))?.seq ?? 0) + 1;
  expect(await runView(mine, "r")).toMatchObject({ status: "completed", result: "done", links });
  expect(faults).toEqual([]);
});

test("lists and overview of a file say what those of memory do", async () => {
  await using folder = await temporaryFolder();
  await using store = await SqliteStore.open({ path: join(folder.path, "bursar.db") });
  await using bursar = openBursar({ store, programs: [speaker] });
  await bursar.openSession("office", { steps: 5 });
  for (const id of ["c", "a", "b"])
    await bursar.start("speaker", { long: "x".repeat(1000) }, { id, session: "office" });
  await bursar.drive("a");
  const { items } = await listRuns(store, { session: "office" });
  expect(items.map(({ id, status }) => [id, status])).toEqual([
    ["b", "queued"],
    ["a", "completed"],
    ["c", "queued"],
  ]);
  expect(items[1]).toMatchObject({ program: { kind: "agent", name: "speaker" }, session: "office", waiting: [] });
  expect(items[1]?.ended).toBeGreaterThan(0);
  const { runs, active, recent } = await overview(store);
  expect(runs).toMatchObject({ queued: 2, completed: 1 });
  expect([active.map(({ id }) => id), recent.map(({ id }) => id)]).toEqual([["b", "c"], ["a"]]);
});
