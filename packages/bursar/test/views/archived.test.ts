import { join } from "node:path";
import { type Clock, defineAgent, defineTool, openBursar, openStore, systemClock } from "bursar";
import { Keys } from "bursar/gateway";
import { openHousekeeping } from "bursar/store";
import { overview, runView } from "bursar/views";
import { expect, test } from "vitest";
import { BursarError } from "../../src/core/errors.js";
import { unlessArchived } from "../../src/runtime/unless-archived.js";
import { temporaryFolder } from "../stores/folder.js";

const look = defineTool({ name: "look", description: "Looks.", input: {}, run: () => "seen" });
const looker = defineAgent("looker", async (ctx) => {
  await ctx.tool("look");
  return ctx.tool("look");
});
/** What has just ended has ended an hour ago by this clock. */
const NEXT_HOUR: Clock = {
  now: () => {
    const { instant, monotonic } = systemClock.now();
    return { instant: instant + 3_600_000, monotonic };
  },
};

test("a run whose chain is in a file is shown with what its budget knows, again and again", async () => {
  await using folder = await temporaryFolder();
  const url = `sqlite:${join(folder.path, "bursar.db")}`;
  {
    await using store = await openStore(url);
    await using bursar = openBursar({ store, programs: [looker], tools: [look] });
    await bursar.start("looker", null, { id: "r" });
    // What its clients have saved is looked up in the same chain.
    await new Keys(store).create({ budget: "r", label: "client" });
    await bursar.drive("r");
  }
  await using housekeeping = openHousekeeping(url, { clock: NEXT_HOUR });
  const { archived } = await housekeeping.archive({ folder: folder.path, older_ms: 0 });
  expect(archived).toMatchObject([{ chain: "r" }]);
  await using store = await openStore(url);
  for (let turn = 0; turn < 2; turn++) {
    expect(await runView(store, "r")).toMatchObject({ status: "completed", result: "seen", steps: 2, saved_usd: 0 });
  }
  expect(await overview(store)).toMatchObject({ saved_usd: 0 });
});

test("nothing else that goes wrong with a chain is passed over", async () => {
  expect(await unlessArchived(Promise.resolve())).toBe(true);
  expect(await unlessArchived(Promise.reject(new BursarError("store_archived", "it is in a file")))).toBe(false);
  for (const error of [new BursarError("store_broken", "torn"), new Error("gone")]) {
    await expect(unlessArchived(Promise.reject(error))).rejects.toBe(error);
  }
});
