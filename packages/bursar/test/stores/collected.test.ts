import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { sqliteEngine as openEngine } from "../../src/stores/sqlite/engine.js";
import { sqliteEngine } from "./engines.js";
import { filled } from "./housed.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("rows can be read on after the memory was cleaned up", async () => {
  await using engine = await sqliteEngine();
  const url = await filled(engine);
  await using reading = openEngine(url.slice("sqlite:".length));
  const rows = await reading.reading(async (sql) => {
    let count = 0;
    for await (const _ of sql.rows("SELECT id FROM calls ORDER BY id")) {
      count++;
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    return count;
  });
  expect(rows).toBe(19);
});
