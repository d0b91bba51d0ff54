import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { defineAgent, execHandler, guestProgram } from "bursar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openScene, POLL, QUESTIONS, type Scene, TIGHT } from "./scene.js";

/** Runs code that nobody trusts, and that never ends unless its fuel does. */
const coder = defineAgent("coder", async (ctx) => {
  await ctx.exec("javascript", "console.log(6 * 7)", { fuel: 50_000_000 });
  return ctx.exec("javascript", "while (true) {}", { fuel: 20_000_000 });
});

/** Is itself code that nobody trusts. */
const guest = (name: string, language: "python" | "javascript", code: string) =>
  guestProgram(name, { language, code, packages: [], memory_bytes: 64 * 1024 * 1024 }, async () => sandbox);
const looper = guest("looper", "javascript", 'console.log("begun"); while (true) {}');
const reader = guest("reader", "python", 'open("/etc/passwd")');

/** Stays under way for as long as nobody ends it. */
const sleeper = defineAgent("sleeper", async (ctx) => {
  await ctx.tool("answer", { question: "how long?" });
  await ctx.sleep(600_000);
});

/** Asks on and on, at a steady pace. */
const crawler = defineAgent("crawler", async (ctx) => {
  for (let page = 0; page < 2000; page++) {
    await ctx.tool("answer", { question: `page ${page}` });
    await ctx.sleep(100);
  }
});

/** Does a great deal, and looks at its watch in between, which is numbered but is no step. */
const clerk = defineAgent("clerk", async (ctx) => {
  for (let file = 0; file < 130; file++) {
    await ctx.tool("answer", { question: `file ${file}` });
    await ctx.now();
  }
});

let sandbox: Sandbox;
let scene: Scene;
beforeAll(async () => {
  sandbox = await openSandbox();
  scene = await openScene({
    programs: [coder, sleeper, crawler, clerk, looper, reader],
    handlers: { exec: execHandler(async () => sandbox) },
  });
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

describe("the page of a run", () => {
  test("shows its budgets from the outermost in, with what is held apart from what is used", async () => {
    await scene.bursar.openSession("team", { llm_tokens: 500_000 });
    const run = await scene.run("chief", QUESTIONS, {
      session: "team",
      limits: { cost_usd: 0.2 },
      policies: { cost_usd: "approval_required" },
    });
    await using visit = await scene.visit(`/runs/${run}`);
    const tree = visit.page.getByRole("region", { name: "Budgets" });
    await tree.getByRole("table").first().waitFor();

    const captions = await tree.locator("caption").allInnerTexts();
    expect(captions).toEqual(["Its session's session:team", `This run's own ${run}`]);
    // The child has used 0.08 of the 0.10 that are held for it.
    const cost = await tree.getByRole("table").nth(1).getByRole("row", { name: /^Cost/ }).innerText();
    expect(cost).toMatch(/\$0\.08\s+\$0\.02\s+\$0\.20/);
    await tree.getByRole("img", { name: "Cost: $0.08 of $0.20 used (40 %), $0.02 held" }).first().waitFor();
    expect(visit.faults).toEqual([]);
  });

  test("leads to its children and back", async () => {
    const run = await scene.run("chief", QUESTIONS, { limits: { cost_usd: 1 } });
    await using visit = await scene.visit(`/runs/${run}`);
    const { page } = visit;

    await page.getByRole("region", { name: "Child runs" }).getByRole("link", { name: "researcher" }).click();
    await page.getByRole("heading", { name: "researcher", level: 1 }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.id"), POLL).toBe("title");
    await page.reload();
    await page.getByRole("link", { name: run, exact: true }).click();
    await page.getByRole("heading", { name: "chief", level: 1 }).waitFor();

    await page.goBack();
    await page.getByRole("heading", { name: "researcher", level: 1 }).waitFor();
  });

  test("draws what is left of each dimension over time, and says the same in words", async () => {
    const run = await scene.run("researcher");
    await using visit = await scene.visit(`/runs/${run}`);
    const chart = visit.page.getByRole("img", { name: "Cost left over time: $0.02 of $0.10 left (80 % used)" });

    await chart.waitFor();
    await expect.poll(() => chart.locator("canvas").count(), POLL).toBe(1);
    await visit.page.getByText("Figures of cost").click();
    const figures = visit.page.getByRole("table", { name: "Cost: the last changes" });
    // Two calls within one millisecond are one change.
    await expect.poll(() => figures.innerText(), POLL).toContain("$0.08");
    await visit.page.getByText("Nothing used yet of").waitFor();
    expect(visit.faults).toEqual([]);
  });

  test("draws in a browser whose language is named after the machine's too", async () => {
    const run = await scene.run("researcher");
    await using context = await scene.browser.newContext();
    const named = '{ get: () => "en-US@posix", configurable: true }';
    await context.addInitScript(`Object.defineProperty(Navigator.prototype, "language", ${named})`);
    const page = await context.newPage();
    await page.goto(`${scene.url}/runs/${run}`);
    const chart = page.getByRole("img", { name: /^Cost left over time/ });
    await expect.poll(() => chart.locator("canvas").count(), POLL).toBe(1);
  });

  test("says when a run that is under way will have used up its budget, and follows it", async () => {
    const { id } = await scene.bursar.start("crawler", null, { limits: { cost_usd: 50, steps: 5000 } });
    await using visit = await scene.visit(`/runs/${id}`);
    const cost = visit.page.locator("figure", { hasText: "Cost" });

    await cost.getByText(/At this rate exhausted in \d+ (?:s|min)/).waitFor();
    const steps = async () => Number(await visit.page.locator("dt:text('Steps') + dd").innerText());
    const before = await steps();
    await expect.poll(steps, POLL).toBeGreaterThan(before + 3);
    await scene.bursar.cancel(id);
    await visit.page.locator(".heading .status", { hasText: "cancelled" }).waitFor();
    await expect.poll(() => cost.getByText("At this rate exhausted").count(), POLL).toBe(0);
    expect(visit.faults).toEqual([]);
  });

  test("tells its steps with the cost of each", async () => {
    const run = await scene.run("researcher");
    await using visit = await scene.visit(`/runs/${run}`);
    const steps = visit.page.getByRole("region", { name: "Steps" });

    const rows = steps.getByRole("row").filter({ hasText: "answer" });
    await rows.first().waitFor();
    await expect
      .poll(() => rows.allInnerTexts(), POLL)
      .toEqual([
        expect.stringMatching(/done[\s\S]*\$0\.04\s+750/),
        expect.stringMatching(/done[\s\S]*\$0\.04\s+750/),
        expect.stringMatching(/refused/),
      ]);
  });

  test("shows the latest of many steps, and the others on demand", async () => {
    const run = await scene.run("clerk", null, { limits: { cost_usd: 50, steps: 1000, llm_tokens: null } });
    await using visit = await scene.visit(`/runs/${run}`);
    const steps = visit.page.getByRole("region", { name: "Steps" });
    const numbers = async () => {
      const cells = await steps.locator("tbody tr > td:first-child").allInnerTexts();
      return `${cells.at(0)} to ${cells.at(-1)}, ${cells.length}`;
    };
    await expect.poll(numbers, POLL).toBe("60 to 258, 100");

    await steps.getByRole("button", { name: "Earlier steps" }).click();
    await expect.poll(numbers, POLL).toBe("0 to 198, 100");
    await steps.getByRole("button", { name: "Later steps" }).click();
    await expect.poll(numbers, POLL).toBe("200 to 258, 30");
    await steps.getByRole("button", { name: "Latest steps" }).click();
    await expect.poll(numbers, POLL).toBe("60 to 258, 100");
  });

  test("shows what the sandbox says: how fuel was used, and what to do about an error", async () => {
    const run = await scene.run("coder", null, { limits: { fuel: 200_000_000 } });
    await using visit = await scene.visit(`/runs/${run}`);
    const { page } = visit;

    await page.getByText("Fuel: exhausted").waitFor();
    await page.getByText("Fuel: efficient").waitFor();
    await page.getByText("OutOfFuel").first().waitFor();
    await page.getByText("What to do").waitFor();
    expect(visit.faults).toEqual([]);
  });

  test("shows the same of a run that is itself a program in the sandbox", async () => {
    const run = await scene.run("looper", null, { limits: { fuel: 20_000_000 } });
    await using visit = await scene.visit(`/runs/${run}`);
    const outcome = visit.page.getByRole("region", { name: "Outcome and output" });

    await outcome.getByText("Fuel: exhausted").waitFor();
    await outcome.getByRole("img", { name: "Fuel: 20M of 20M used (100 %)" }).waitFor();
    await outcome.getByText("For a run: raise its limit").waitFor();
    await visit.page.getByText("No step was made.").waitFor();
    await expect.poll(() => visit.page.locator("main").innerText(), POLL).not.toContain("yet");
    expect(visit.faults).toEqual([]);

    const other = await scene.run("reader", null, {});
    await using second = await scene.visit(`/runs/${other}`);
    await second.page.getByText("PathRestriction").first().waitFor();
    await second.page.getByText(/Fuel: efficient, [\d.]+[KM], no limit/).waitFor();
    expect(second.faults).toEqual([]);
  });
});

describe("an operator", () => {
  test("cancels a run that is under way, and says why", async () => {
    const { id } = await scene.bursar.start("sleeper", null, { limits: { cost_usd: 1 } });
    await using visit = await scene.visit(`/runs/${id}`);
    const { page } = visit;

    await page.getByRole("button", { name: "Cancel run …" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel sleeper?" });
    await dialog.getByLabel("Reason").fill("no longer needed");
    await dialog.getByRole("button", { name: "Cancel run" }).click();

    await expect.poll(async () => (await scene.bursar.find(id)).status, POLL).toBe("cancelled");
    await page.getByText("no longer needed").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Cancel run …" }).count(), POLL).toBe(0);
  });

  test("extends a run before it has to ask", async () => {
    const { id } = await scene.bursar.start("sleeper", null, { limits: { cost_usd: 1 } });
    await using visit = await scene.visit(`/runs/${id}`);
    const { page } = visit;

    await page.getByRole("button", { name: "Extend …" }).click();
    const dialog = page.getByRole("dialog", { name: "Extend sleeper" });
    await expect.poll(() => dialog.getByRole("button", { name: "Extend" }).isDisabled(), POLL).toBe(true);
    await dialog.getByLabel("More money in USD").fill("0.5");
    await dialog.getByRole("button", { name: "Extend" }).click();

    await page
      .getByRole("img", { name: /^Cost: .* of \$1\.50 used/ })
      .first()
      .waitFor();
    await scene.bursar.cancel(id);
  });
});

test("a run that is not there leads to those that are", async () => {
  await using visit = await scene.visit("/runs/none");
  const problem = visit.page.getByRole("alert");
  await problem.first().waitFor();
  await expect.poll(() => problem.first().innerText(), POLL).toContain("The page Runs shows those there are.");
  await expect.poll(() => visit.page.locator("body").innerText(), POLL).not.toContain("/api/");
});

test("runs are found by their status and by words, and the address says which", async () => {
  const paused = await scene.run("researcher", QUESTIONS, TIGHT);
  await scene.run("chief", QUESTIONS, { limits: { cost_usd: 1 } });
  await using visit = await scene.visit("/runs");
  const { page } = visit;

  await page.getByLabel("Status").selectOption("paused");
  await page.locator(`a[href="/runs/${paused}"]`).waitFor();
  await expect.poll(() => page.locator("tbody tr", { hasText: "completed" }).count(), POLL).toBe(0);
  await page.getByLabel("Status").selectOption("all");
  await page.getByRole("searchbox", { name: "Search" }).fill("chief");
  await expect.poll(() => new URL(page.url()).search, POLL).toBe("?text=chief");
  await page.locator("tbody a", { hasText: "chief" }).first().waitFor();
  await expect.poll(() => page.locator("tbody a", { hasText: "researcher" }).count(), POLL).toBe(0);

  await page.getByRole("searchbox", { name: "Search" }).fill("nothing of the kind");
  await page.getByText("No run fits.").waitFor();
});

test("what is chosen while a word waits to be looked for stays chosen", async () => {
  await using visit = await scene.visit("/runs");
  const { page } = visit;

  await page.getByRole("searchbox", { name: "Search" }).waitFor();
  // As quick fingers would: the word is looked for a quarter of a second after the last key.
  await page.evaluate(`(async () => {
    const type = (field, value, event) => {
      field.value = value;
      field.dispatchEvent(new Event(event, { bubbles: true }));
    };
    type(document.querySelector("[data-search]"), "chief", "input");
    await new Promise((resolve) => setTimeout(resolve, 60));
    type(document.querySelector("select"), "paused", "change");
  })()`);

  await expect.poll(() => new URL(page.url()).search, POLL).toMatch(/text=chief/);
  expect(new URL(page.url()).search).toContain("status=paused");
});

test("the field for words says what is looked for, wherever the address comes from", async () => {
  await using visit = await scene.visit("/runs?text=nothing+of+the+kind");
  const { page } = visit;
  const field = page.getByRole("searchbox", { name: "Search" });
  await expect.poll(() => field.inputValue(), POLL).toBe("nothing of the kind");
  const below = page.getByRole("checkbox", { name: "Child runs too" });
  expect([await below.isChecked(), await below.isDisabled()]).toEqual([true, true]);

  await page.getByRole("link", { name: "Show all runs" }).click();

  await expect.poll(() => field.inputValue(), POLL).toBe("");
  await page.goBack();
  await expect.poll(() => field.inputValue(), POLL).toBe("nothing of the kind");
});

test("a figure of the overview leads to as many runs as it counts, those below others too", async () => {
  await scene.run("chief", { questions: ["one"] }, { limits: { cost_usd: 1 } });
  await using visit = await scene.visit("/");
  const { page } = visit;
  const figure = page.getByRole("region", { name: "Runs by status" }).getByRole("link", { name: "completed" });
  const counted = Number((await figure.locator(".figure").textContent())?.replaceAll(",", ""));

  await figure.click();

  await page.getByRole("checkbox", { name: "Child runs too" }).waitFor();
  await expect.poll(() => page.locator("table.runs tbody tr").count(), POLL).toBe(counted);
  await page.getByRole("checkbox", { name: "Child runs too" }).uncheck();
  await expect.poll(() => page.locator("table.runs tbody tr").count(), POLL).toBeLessThan(counted);
});

test("what was refused is not counted among the steps, but beside them", async () => {
  const run = await scene.run("researcher");
  await using visit = await scene.visit(`/runs/${run}`);

  const steps = visit.page.locator(".facts div", { has: visit.page.getByText("Steps", { exact: true }) });

  await expect.poll(() => steps.locator("dd").textContent(), POLL).toBe("2 and 1 refused");
});

test("a run that may run for longer than there are dates is shown", async () => {
  const { id } = await scene.bursar.start("sleeper", null, { limits: { wall_clock_ms: 9_000_000_000_000_000 } });
  await using visit = await scene.visit(`/runs/${id}`);
  await visit.page.locator("tr", { hasText: "Running time" }).first().waitFor();
  expect(visit.faults).toEqual([]);
  await scene.bursar.cancel(id, { name: "ann", role: "operator" });
});
