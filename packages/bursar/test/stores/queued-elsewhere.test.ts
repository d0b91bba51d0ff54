import { defineAgent, openBursar, openStore, Worker } from "bursar";
import { FakeClock } from "bursar/testing";
import { expect, test } from "vitest";
import { postgresEngine, sqliteEngine } from "./engines.js";

const hello = defineAgent("hello", async () => "done");

// The worker's clock stands still, so it looks for nothing by itself: what it takes, it was told of.
test.each([
  ["SQLite", sqliteEngine],
  ["PostgreSQL", postgresEngine],
])("a worker is told of runs that another connection queues, on %s", async (_, makeEngine) => {
  await using engine = await makeEngine();
  const url = engine.fresh();
  await using here = await openStore(url);
  await using there = await openStore(url);
  const worker = new Worker({ bursar: openBursar({ store: here, programs: [hello] }), timer: new FakeClock() });
  worker.start();
  const starter = openBursar({ store: there, programs: [hello] });
  for (let number = 0; number < 5; number++) {
    await starter.start("hello", null, { id: `r${number}` });
    while ((await starter.find(`r${number}`)).status !== "completed") await new Promise((go) => setTimeout(go, 5));
  }
  expect((await there.counts("run")).completed).toBe(5);
  await worker.close();
});
