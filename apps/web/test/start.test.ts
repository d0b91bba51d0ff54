import { defineAgent, MemoryStore } from "bursar";
import { Tokens } from "bursar/server";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHECKS, LOOKS } from "./looks.js";
import { openScene, POLL, QUESTIONS, type Scene } from "./scene.js";

/** What each program gets; the library would give the same without a configuration. */
const limitsFor = (program: string | undefined) => [
  { dimension: "steps", value: 50, policy: "hard_stop", origin: "default" },
  { dimension: "llm_tokens", value: 100_000, policy: "approval_required", origin: "default" },
  program === "sender"
    ? { dimension: "cost_usd", value: 2, policy: "soft_warn", origin: "agent sender, /srv/bursar.yaml:21" }
    : { dimension: "cost_usd", value: 0.5, policy: "approval_required", origin: "policy careful, /srv/bursar.yaml:12" },
  { dimension: "fuel", value: null, policy: "hard_stop", origin: "default" },
];
/** Asks as the researcher does, and has a past of its own. */
const asker = defineAgent("asker", async (ctx, { questions }: { questions: readonly string[] }) => {
  for (const question of questions) await ctx.tool("answer", { question });
});

const PROGRAMS = [
  { name: "researcher", kind: "agent" },
  { name: "asker", kind: "agent" },
  { name: "sender", kind: "agent" },
];
const server = {
  programs: () => PROGRAMS,
  config: (program?: string) => ({ file: "/srv/bursar.yaml", limits: limitsFor(program) }),
};

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ server, programs: [asker] });
});
afterAll(() => scene[Symbol.asyncDispose]());

const START = "/runs?start=";
const SMALLEST_PX =
  'Math.min(...[...document.querySelectorAll("main :is(input, select, textarea)")].map((each) => parseFloat(getComputedStyle(each).fontSize)))';
const runs = async () => {
  let count = 0;
  for await (const _ of scene.store.documents("run")) count++;
  return count;
};
/** What the page sends, by the end of its address. */
function sentBy(page: Page): string[] {
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") sent.push(new URL(request.url()).pathname);
  });
  return sent;
}

describe("an operator", () => {
  test("finds the form from the runs, fills it in, starts the run and is on its page", async () => {
    await using visit = await scene.visit("/runs");
    const { page } = visit;
    await page.getByRole("link", { name: "Start a run" }).click();
    await page.getByRole("heading", { name: "Start a run", level: 1 }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.id"), POLL).toBe("title");
    await page.getByLabel("Program").selectOption("researcher");
    await page.getByLabel("Input").fill(JSON.stringify({ questions: ["rivers"] }, null, 2));
    await page.getByLabel("Cost in USD").fill("0.25");
    await page.getByRole("button", { name: "Start" }).click();

    await page.getByRole("heading", { name: "researcher", level: 1 }).waitFor();
    const id = decodeURIComponent(new URL(page.url()).pathname.split("/").at(-1) ?? "");
    await expect.poll(async () => (await scene.bursar.find(id)).status, POLL).toBe("completed");
    expect(await scene.bursar.find(id)).toMatchObject({ input: { questions: ["rivers"] }, started_by: "operator" });
    expect((await scene.store.budget(id))?.limits).toMatchObject({ cost_usd: 250_000_000, steps: 50 });
    expect(visit.faults).toEqual([]);
  });

  test("does all of it with the keyboard, and Enter in a field starts nothing", async () => {
    await using visit = await scene.visit(START);
    const { page } = visit;
    const sent = sentBy(page);
    await page.getByLabel("Program").focus();
    await page.keyboard.press("Tab");
    await page.keyboard.type('{"questions": []}');
    await page.keyboard.press("Tab");
    await page.keyboard.type("1");
    await page.keyboard.press("Enter");
    expect(sent).toEqual([]);
    for (let press = 0; press < 20; press++) {
      await page.keyboard.press("Tab");
      if ((await page.evaluate("document.activeElement.textContent")) === "Start") break;
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "researcher", level: 1 }).waitFor();
    expect(sent).toEqual(["/api/v1/runs"]);
  });

  test("sees what each limit is, who says so and what happens then; of the program that is chosen", async () => {
    await using visit = await scene.visit(`${START}sender`);
    const { page } = visit;
    const note = async (label: string) => {
      const field = page.getByRole("textbox", { name: label });
      const [id = ""] = ((await field.getAttribute("aria-describedby")) ?? "").split(" ");
      return page.locator(`[id="${id}"]`).innerText();
    };
    await expect.poll(() => page.getByLabel("Program").inputValue(), POLL).toBe("sender");
    await page.getByLabel("Cost in USD").waitFor();
    await expect
      .poll(() => note("Cost in USD"), POLL)
      .toBe("By default $2.00 (agent sender, /srv/bursar.yaml:21), then it only warns.");
    await expect.poll(() => note("Steps"), POLL).toBe("By default 50 (built in), then it ends.");
    await page.getByLabel("Program").selectOption("researcher");
    await expect
      .poll(() => note("Cost in USD"), POLL)
      .toBe("By default $0.50 (policy careful, /srv/bursar.yaml:12), then it asks.");
    await page.getByLabel("Cost in USD").fill("0.25");
    await expect
      .poll(() => note("Cost in USD"), POLL)
      .toMatch(/^Up to \$0\.25, then it asks\. By default \$0\.50 \(policy careful, .*\)\.$/);
    await page.getByLabel("Cost in USD").fill("0");
    await expect.poll(() => note("Cost in USD"), POLL).toContain("Nothing of it is allowed, then it asks.");
    await expect.poll(() => page.getByLabel("Fuel").count(), POLL).toBe(0);
    await page.getByLabel("Limit also").selectOption("fuel");
    await expect.poll(() => note("Fuel"), POLL).toBe("By default no limit (built in).");
  });

  test("takes a limit back that he has added, which then is not sent", async () => {
    await using visit = await scene.visit(START);
    const { page } = visit;
    const also = page.getByLabel("Limit also");
    await also.selectOption("fuel");
    await page.getByRole("textbox", { name: "Fuel" }).fill("wrong");
    // What is limited anyway cannot be taken back, only left empty.
    await expect.poll(() => page.getByRole("button", { name: /^Remove/ }).count(), POLL).toBe(1);
    await page.getByRole("button", { name: "Remove the limit of fuel" }).click();
    await expect.poll(() => page.getByLabel("Fuel").count(), POLL).toBe(0);
    await expect.poll(() => page.evaluate("document.activeElement.labels?.[0]?.textContent"), POLL).toBe("Limit also");
    await expect.poll(() => also.locator("option").allInnerTexts(), POLL).toEqual(["choose …", "Fuel"]);
    await page.getByLabel("Input").fill('{"questions": []}');
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.getByRole("button", { name: "Start" }).click();
    expect((await sent).postDataJSON()).toEqual({ program: "researcher", input: { questions: [] }, limits: {} });
    await page.getByRole("heading", { name: "researcher", level: 1 }).waitFor();
    expect(visit.faults).toEqual([]);
  });

  test("says what happens when a limit is reached, which is sent for what was chosen alone", async () => {
    await using visit = await scene.visit(START);
    const { page } = visit;
    const then = (what: string) => page.getByLabel(`At the limit of ${what}`);
    const first = (what: string) => then(what).locator("option").first().innerText();
    await expect.poll(() => first("cost"), POLL).toBe("by default it asks");
    await expect.poll(() => first("steps"), POLL).toBe("by default it ends");
    await page.getByLabel("Limit also").selectOption("fuel");
    await then("fuel").selectOption("it only warns");
    await page.getByRole("button", { name: "Remove the limit of fuel" }).click();
    await then("cost").selectOption("it ends");
    await then("steps").selectOption("it asks");
    await then("tokens").selectOption("it asks");
    await then("tokens").selectOption("");
    await page.getByRole("textbox", { name: "Steps" }).fill("1");
    await page.getByText("Up to 1, then it asks.").waitFor();
    await page.getByLabel("Input").fill('{"questions": ["rivers", "lakes"]}');
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.getByRole("button", { name: "Start" }).click();
    expect((await sent).postDataJSON()).toEqual({
      program: "researcher",
      input: { questions: ["rivers", "lakes"] },
      limits: { steps: 1 },
      policies: { cost_usd: "hard_stop", steps: "approval_required" },
    });
    await page.getByRole("heading", { name: "researcher asks for more steps" }).waitFor();
    const id = decodeURIComponent(new URL(page.url()).pathname.split("/").at(-1) ?? "");
    expect((await scene.store.budget(id))?.policies).toMatchObject({
      cost_usd: "hard_stop",
      steps: "approval_required",
    });
    expect(visit.faults).toEqual([]);
  });

  test("names a session, one of those there are or another, and is told when the server takes none of that name", async () => {
    await scene.bursar.openSession("team-a", { cost_usd: 5 });
    await scene.run("researcher", { questions: [] }, { session: "team-a" });
    await using visit = await scene.visit(START);
    const { page } = visit;
    const session = page.getByLabel("Session");
    await expect.poll(() => page.locator("#sessions option").count(), POLL).toBe(1);
    await expect.poll(() => page.locator("#sessions option").getAttribute("value"), POLL).toBe("team-a");
    await page.getByLabel("Input").fill('{"questions": []}');
    await session.fill("team a");
    await page.getByRole("button", { name: "Start" }).click();
    await expect
      .poll(() => page.getByRole("alert").innerText(), POLL)
      .toContain("1 to 100 letters, digits and . _ @ -");
    await session.fill(" team-a ");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "researcher", level: 1 }).waitFor();
    const id = decodeURIComponent(new URL(page.url()).pathname.split("/").at(-1) ?? "");
    expect((await scene.bursar.find(id)).session).toBe("team-a");
  });

  test("is told before anything is sent that the input is no JSON, or a limit no amount", async () => {
    await using visit = await scene.visit(START);
    const { page } = visit;
    const before = await runs();
    const sent = sentBy(page);
    const input = page.getByLabel("Input");
    await input.pressSequentially('{"questions": [\n  rivers]}');
    // Nobody is told that he is wrong before he is done.
    await expect.poll(() => input.getAttribute("aria-invalid"), POLL).toBe("false");
    for (const name of ["Start", "Estimate"]) {
      await page.getByRole("button", { name }).click();
      await page.getByText(/^This is not JSON: /).waitFor();
      await expect.poll(() => page.evaluate("document.activeElement.id"), POLL).toBe("input");
    }
    await expect.poll(() => input.getAttribute("aria-invalid"), POLL).toBe("true");
    await input.fill('{"questions": []}');
    await expect.poll(() => page.getByText("This is not JSON").count(), POLL).toBe(0);
    await page.getByRole("textbox", { name: "Steps" }).fill("1.5");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("Write a whole number.").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-invalid')"), POLL).toBe("true");
    expect([sent, await runs()]).toEqual([[], before]);
  });

  test("sees what the server refuses, and keeps what he has written", async () => {
    await using visit = await scene.visit(START);
    const { page } = visit;
    await page.getByLabel("Input").fill(JSON.stringify(QUESTIONS));
    await page.getByLabel("Cost in USD").fill("99999999");
    await page.getByRole("button", { name: "Start" }).click();
    await expect.poll(() => page.getByRole("alert").innerText(), POLL).toMatch(/cost_usd/);
    await expect.poll(() => page.getByLabel("Input").inputValue(), POLL).toBe(JSON.stringify(QUESTIONS));
  });
});

describe("an estimate", () => {
  test("says that nobody knows while nobody does, then median and 95 %, and whether it fits", async () => {
    await using visit = await scene.visit(`${START}sender`);
    const { page } = visit;
    const before = await runs();
    const panel = page.getByRole("region", { name: "Estimate" });
    await page.getByRole("button", { name: "Estimate" }).click();
    await panel.getByText("Nobody can say yet what it will take").waitFor();

    const roomy = { limits: { cost_usd: 5, llm_tokens: 100_000, steps: 100, wall_clock_ms: 600_000 } };
    for (let past = 0; past < 3; past++) await scene.run("asker", QUESTIONS, roomy);
    await page.getByLabel("Program").selectOption("asker");
    await panel.getByText("estimate it again").waitFor();
    await page.getByLabel("Input").fill(JSON.stringify(QUESTIONS));
    await page.getByRole("button", { name: "Estimate" }).click();
    await panel.getByText("Expected to fit").waitFor();
    const row = panel.getByRole("row", { name: /^Cost/ });
    expect((await row.innerText()).replaceAll(/\s+/g, " ")).toMatch(/^Cost \$0\.16 \$0\.1\d* \$0\.50 past runs$/);

    await page.getByLabel("Cost in USD").fill("0.09");
    await page.getByRole("button", { name: "Estimate" }).click();
    await panel.getByText("Expected not to fit").waitFor();
    await expect.poll(() => row.innerText(), POLL).toContain("missing");
    expect(await runs()).toBe(before + 3);
    expect(visit.faults).toEqual([]);
  });
});

describe("a run that is expected not to fit", () => {
  test("does not start, asks, or starts with a warning, as it is chosen", async () => {
    const roomy = { limits: { cost_usd: 5, llm_tokens: 100_000, steps: 100, wall_clock_ms: 600_000 } };
    for (let past = 0; past < 3; past++) await scene.run("asker", QUESTIONS, roomy);
    await using visit = await scene.visit(`${START}asker`);
    const { page } = visit;
    const preflight = page.getByLabel("When it is expected not to fit");
    const again = async () => {
      await page.goto(`${scene.url}${START}asker`);
      await page.getByLabel("Input").fill(JSON.stringify(QUESTIONS));
      await page.getByLabel("Cost in USD").fill("0.09");
      await page.getByLabel("At the limit of cost").selectOption("it asks");
    };
    await again();
    await expect.poll(() => preflight.inputValue(), POLL).toBe("");
    await preflight.selectOption("Do not begin it");
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator(".heading .status", { hasText: "failed" }).waitFor();
    await expect.poll(() => page.locator("main").innerText(), POLL).toContain("No step was made.");
    await again();
    await preflight.selectOption("Ask a person before it begins");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "asker asks to begin" }).waitFor();
    await again();
    await preflight.selectOption("Begin it, and only warn");
    await page.getByRole("button", { name: "Start" }).click();
    // It began, and asks where its limit is.
    await page.getByRole("heading", { name: "asker asks for more money" }).waitFor();
  });
});

describe("where a login is demanded", () => {
  test("a viewer is offered nothing, and told why when he comes all the same", async () => {
    const store = new MemoryStore();
    await new Tokens(store).create({ name: "ann", role: "admin" });
    const { secret } = await new Tokens(store).create({ name: "vic", role: "viewer" });
    await using guarded = await openScene({ store, server: { ...server, requireLogin: true } });
    await using visit = await guarded.visit("/runs");
    const { page } = visit;
    await page.getByLabel("Token").fill(secret);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "Start a run" }).count(), POLL).toBe(0);
    await page.goto(`${guarded.url}${START}`);
    await page.getByText("You are viewer: an operator has to start runs.").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Start" }).count(), POLL).toBe(0);
  });
});

test("where no program is registered it is said how one is; where nothing is known of limits, some can be set", async () => {
  await using bare = await openScene({ server: { programs: () => [] } });
  await using visit = await bare.visit(START);
  await visit.page.getByText("No program is registered here.").waitFor();
  await expect.poll(() => visit.page.locator("main").innerText(), POLL).toContain("bursar serve --module agents.mjs");
  await expect.poll(() => visit.page.evaluate(`${CHECKS}\nglobalThis.findFaults()`), POLL).toEqual([]);
  await using silent = await openScene({ server: { programs: () => PROGRAMS } });
  await using other = await silent.visit(START);
  await other.page.getByRole("textbox", { name: "Tokens" }).waitFor();
  await expect
    .poll(() => other.page.getByLabel("At the limit of tokens").locator("option").first().innerText(), POLL)
    .toBe("as by default");
  await expect.poll(() => other.page.getByText("By default as the server has it.").count(), POLL).toBe(4);
});

test.for(LOOKS)("in %s all of it can be read, named and reached", async ([, look]) => {
  await using visit = await scene.visit(START, look);
  const { page } = visit;
  const faults = () => page.evaluate(`${CHECKS}\nglobalThis.findFaults()`);
  await page.getByLabel("Cost in USD").waitFor();
  await expect.poll(() => faults(), POLL).toEqual([]);
  await page.getByLabel("Limit also").selectOption("fuel");
  await page.getByRole("button", { name: "Remove the limit of fuel" }).waitFor();
  // Phones zoom in on a field with smaller text, and stay so.
  if ("isMobile" in look) await expect.poll(() => page.evaluate(SMALLEST_PX), POLL).toBe(16);
  await page.getByLabel("Input").fill(JSON.stringify(QUESTIONS));
  await page.getByLabel("Cost in USD").fill("0.09");
  await page.getByRole("button", { name: "Estimate" }).click();
  await page.getByRole("region", { name: "Estimate" }).waitFor();
  await page.getByLabel("Input").fill("{rivers");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("This is not JSON").waitFor();
  await expect.poll(() => faults(), POLL).toEqual([]);
});
