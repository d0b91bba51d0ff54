import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineAgent, defineTool, openBursar, openStore, type Store } from "bursar";
import { openServer } from "bursar/server";
import { Feed } from "bursar/views";
import { type Browser, chromium } from "playwright-core";
import { measureAsync } from "../measure.js";
import type { Bench, Report } from "../report.js";

const RUNS = 1000;
const MOST_MS = 1000;
const ROUNDS = 15;
const PAGE = fileURLToPath(new URL("../../../apps/web/dist", import.meta.url));

/** A step that costs something. */
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  quote: { cost_usd: 0.01 },
  run: () => "seen",
});

/** Two steps, and a third for those who have not enough: these wait for an approval. */
const looker = defineAgent("looker", async (ctx, { steps }: { steps: number }) => {
  for (let step = 0; step < steps; step++) await ctx.tool("look", {});
  return steps;
});

export const page: Bench = {
  name: "page",
  about: `from an address to rows that can be clicked, in a real browser, with ${RUNS} runs in SQLite`,
  async run(quick) {
    const folder = mkdtempSync(join(tmpdir(), "bursar-bench-"));
    try {
      await using store = await openStore(`sqlite:${join(folder, "page.db")}`);
      await fill(store, quick ? RUNS / 10 : RUNS);
      return await visits(store, quick ? 3 : ROUNDS);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function fill(store: Store, count: number): Promise<void> {
  await using bursar = openBursar({ store, programs: [looker], tools: [look] });
  const policies = { steps: "approval_required" } as const;
  for (let run = 0; run < count; run++) {
    const steps = run % 20 === 0 ? 3 : 2;
    await bursar.run("looker", { steps }, { limits: { steps: 2, cost_usd: 1 }, policies });
  }
}

async function visits(store: Store, rounds: number): Promise<Report> {
  using feed = new Feed({ store });
  await using bursar = openBursar({ store: feed.store, programs: [looker], tools: [look] });
  await using server = await openServer({ store: feed.store, bursar, feed, page: PAGE, port: 0 });
  const browser = await openBrowser();
  try {
    const visit = (path: string) => async () => {
      // A context of its own: nothing is in its cache.
      const context = await browser.newContext();
      const tab = await context.newPage();
      await tab.goto(`${server.url}${path}`);
      await tab.locator("main a[href^='/runs/'], main a[href^='/approvals/']").first().click({ trial: true });
      await context.close();
    };
    const blank = async () => {
      const context = await browser.newContext();
      await (await context.newPage()).goto(`${server.url}/health`);
      await context.close();
    };
    const variants = [
      { name: "a window with nothing in it", operations: 1, run: blank },
      { name: "overview", operations: 1, run: visit("/") },
      { name: "runs", operations: 1, run: visit("/runs") },
      { name: "approvals", operations: 1, run: visit("/approvals") },
    ];
    const rows = await measureAsync(variants, rounds, () => {});
    const bars = rows.slice(1).map(({ name, medianNs }) => {
      const ms = medianNs / 1e6;
      return { name: `${name} in less than 1 s`, measured: `${ms.toFixed(0)} ms`, met: ms < MOST_MS };
    });
    return { tables: [{ title: "to a row that can be clicked, cache empty", rows }], bars };
  } finally {
    await browser.close();
  }
}

async function openBrowser(): Promise<Browser> {
  const { default: packed } = await import("@sparticuz/chromium");
  const executablePath = process.env.BURSAR_CHROMIUM || (await packed.executablePath());
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
}
