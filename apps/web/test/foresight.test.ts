import { defineAgent, defineTool, type StartOptions } from "bursar";
import { Keys } from "bursar/gateway";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHECKS, LOOKS } from "./looks.js";
import { openScene, POLL, QUESTIONS, type Scene } from "./scene.js";

/** Asks on and on, at a steady pace. */
const crawler = defineAgent("crawler", async (ctx, { pages }: { pages: number }) => {
  for (let page = 0; page < pages; page++) {
    await ctx.tool("answer", { question: `page ${page}` });
    await ctx.sleep(100);
  }
});

/** Holds something for as long as it is under way. */
const holder = defineAgent("holder", async (ctx) => {
  await ctx.tool("ponder");
});

let release: () => void = () => {};
const ponder = defineTool({
  name: "ponder",
  description: "Thinks for long.",
  input: {},
  quote: { cost_usd: 0.25, llm_tokens: 4000 },
  run: () => new Promise<null>((resolve) => (release = () => resolve(null))),
});

/** Enough for two answers, where four are expected. */
const SHORT: StartOptions = { limits: { cost_usd: 0.09, steps: 20 }, preflight: "ask" };

let scene: Scene;
let held: string;
let asked: string;
beforeAll(async () => {
  scene = await openScene({ programs: [crawler, holder], tools: [ponder] });
  const roomy = { limits: { cost_usd: 5, llm_tokens: 100_000, steps: 100, wall_clock_ms: 600_000 } };
  for (let past = 0; past < 3; past++) await scene.run("researcher", QUESTIONS, roomy);
  for (let past = 0; past < 3; past++) await scene.run("crawler", { pages: 2 }, roomy);
  asked = await scene.run("researcher", QUESTIONS, SHORT);
  held = (await scene.bursar.start("holder", null, { limits: { cost_usd: 1 } })).id;
  const data = { run_id: held, kind: "cache", saved_usd: 0.125, call_id: "c", model: "m" };
  await scene.store.apply([{ op: "record", budget: held, action: { action_type: "Saved", data } }]);
  await scene.bursar.openSession("paying", { cost_usd: 10 });
  await scene.bursar.openSession("free", {});
  const keys = new Keys(scene.store);
  for (const session of ["paying", "free"]) await keys.create({ budget: `session:${session}`, label: session });
  const spared = { budget: "session:paying", kind: "cache", saved_usd: 0.5, call_id: "d", model: "m" };
  await scene.store.apply([{ op: "record", budget: "session:paying", action: { action_type: "Saved", data: spared } }]);
});
afterAll(async () => {
  release();
  await scene[Symbol.asyncDispose]();
});

describe("a run that is asked about before it begins", () => {
  test("shows what it is predicted to take, and begins with what was granted", async () => {
    await using visit = await scene.visit("/approvals");
    const card = visit.page.getByRole("article", { name: "researcher asks to begin" });
    await card.waitFor();
    await expect
      .poll(() => card.locator(".why").innerText(), POLL)
      .toMatch(/^It has not begun, and is expected not to fit: cost up to \$0\.1\d+, allowed \$0\.09\.$/);
    const table = card.getByRole("table", { name: "Predicted, against limits" });
    const [first = ""] = await table.locator("tbody tr").allInnerTexts();
    expect(first.replaceAll(/\s+/g, " ")).toMatch(/^Cost ?\$0\.\d+ missing \$0\.16 \$0\.1\d+ \$0\.09 past runs$/);
    await expect.poll(() => card.locator(".sources").innerText(), POLL).toContain("From past runs: ");
    await expect.poll(() => card.getByText("What it wants to do").count(), POLL).toBe(0);
    await card.getByRole("textbox", { name: /^More money/ }).fill("0.2");
    await card.getByRole("button", { name: "Approve" }).click();
    await expect.poll(async () => (await scene.bursar.find(asked)).status, POLL).toBe("completed");
    expect(visit.faults).toEqual([]);
  });

  test("may begin with the limits it has", async () => {
    const run = await scene.run("researcher", { questions: ["one", "two"] }, SHORT);
    await using visit = await scene.visit(`/runs/${run}`);
    const field = visit.page.getByRole("textbox", { name: /^More money/ });
    await field.fill("");
    await visit.page.getByRole("button", { name: "Approve" }).click();
    await expect.poll(async () => (await scene.bursar.find(run)).status, POLL).toBe("completed");
    expect((await scene.bursar.result(await scene.bursar.find(run))).usage.cost_usd).toBe(0.08);
  });
});

describe("the page of a run that was expected to take something", () => {
  test("shows that beside what it has used, and what lies before it while it runs", async () => {
    const { id } = await scene.bursar.start("crawler", { pages: 900 }, { limits: { cost_usd: 3, steps: 2000 } });
    await using visit = await scene.visit(`/runs/${id}`);
    const outlook = visit.page.locator(".outlook");
    await expect
      .poll(() => outlook.innerText(), POLL)
      .toMatch(/^At this rate cost_usd is exhausted in \d+ s, step \d+, where up to \d+ were expected\.$/);
    const expected = visit.page.getByRole("region", { name: "Expected" });
    const [cost = ""] = await expected.locator("tbody tr").allInnerTexts();
    expect(cost.replaceAll(/\s+/g, " ")).toMatch(/^Cost ?more than expected \$[\d.]+ \$0\.08 \$0\.\d+ past runs$/);
    await scene.bursar.cancel(id, { name: "ann", role: "operator" });
    await outlook.waitFor({ state: "detached" });
    expect(visit.faults).toEqual([]);
  });
});

describe("what is held, and what was saved", () => {
  test("stand apart from what is used: in the overview, in the list and on the run", async () => {
    await using visit = await scene.visit("/");
    const used = visit.page.getByRole("region", { name: "Used by runs under way" });
    await expect.poll(() => used.innerText(), POLL).toMatch(/\$0\.00\s+Cost and \$0\.25 held/);
    await expect.poll(() => used.innerText(), POLL).toMatch(/\$0\.625\s+Saved/);
    const row = visit.page.getByRole("row", { name: /^holder/ });
    expect((await row.innerText()).replaceAll(/\s+/g, " ")).toContain("$0.00 + $0.25 held");
    await visit.page.goto(`${scene.url}/runs/${held}`);
    await visit.page.locator(".facts").first().waitFor();
    await expect.poll(() => visit.page.locator(".facts").first().innerText(), POLL).toMatch(/Saved\s+\$0\.125/);
    expect(visit.faults).toEqual([]);
  });

  test("what was saved stands with each key, and with none that has saved nothing", async () => {
    await using visit = await scene.visit("/keys");
    const table = visit.page.getByRole("table", { name: /^Gateway keys/ });
    // Two keys may be of the same millisecond: what belongs to one is the row below its own, wherever that is.
    const below = (label: string) => table.locator(`tr:has(th:text("${label}")) + tr`);
    await expect.poll(() => below("paying").innerText(), POLL).toContain("Saved $0.50");
    await expect.poll(() => below("free").innerText(), POLL).toContain("Nothing used");
    expect(await below("free").innerText()).not.toContain("Saved");
    expect(visit.faults).toEqual([]);
  });
});

test.for(LOOKS)("in %s all of it can be read, named and reached", async ([, look]) => {
  const run = await scene.run("researcher", QUESTIONS, SHORT);
  await using visit = await scene.visit("/", look);
  for (const [path, ready] of [
    ["/", "table.prediction"],
    [`/runs/${run}`, "#expected"],
    [`/runs/${held}`, ".facts .saved"],
    ["/keys", "table .saved"],
  ] as const) {
    await visit.page.goto(`${scene.url}${path}`);
    await visit.page.locator(ready).first().waitFor();
    expect(await visit.page.evaluate(`${CHECKS}\nglobalThis.findFaults()`), path).toEqual([]);
  }
});
