import { Gate, readAmounts, requestExtension } from "bursar";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openScene, POLL, QUESTIONS, type Scene, TIGHT } from "./scene.js";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const statusOf = async (id: string) => (await scene.bursar.find(id)).status;

/** The address of the one request that a run waits for. */
async function requestOf(run: string): Promise<string> {
  const { requests } = await scene.bursar.find(run);
  return `/approvals/${Object.values(requests)[0]}`;
}

async function chainOf(run: string): Promise<string> {
  const lines: string[] = [];
  for await (const line of scene.store.chain(run)) lines.push(line);
  return lines.join("\n");
}

describe("a run that asks for more", () => {
  test("is shown with what was asked, why, and consumption against limits", async () => {
    const run = await scene.run("researcher");
    await using visit = await scene.visit(await requestOf(run));
    const card = visit.page.getByRole("article");

    await card.getByRole("heading", { name: "researcher asks for more money" }).waitFor();
    await expect.poll(() => card.innerText(), POLL).toContain("$0.08 of $0.10 (80 %) is used");
    await expect.poll(() => card.getByRole("row", { name: /^Tokens/ }).innerText(), POLL).toMatch(/1,500\s+5,000\s+30/);
    await expect.poll(() => card.getByLabel("More money in USD").inputValue(), POLL).toBe("0.05");
    expect(visit.faults).toEqual([]);
  });

  test("goes on and completes when it is approved with another amount and a reason", async () => {
    const run = await scene.run("researcher");
    await using visit = await scene.visit(`/runs/${run}`);
    const { page } = visit;

    await page.getByLabel("More money in USD").fill("0.3");
    await page.getByText("The limit becomes $0.40.").waitFor();
    await page.getByLabel("Reason").fill("worth it");
    await page.getByRole("button", { name: "Approve" }).click();

    await page.getByRole("status").filter({ hasText: "Approved: the run goes on" }).waitFor();
    await expect.poll(() => statusOf(run), POLL).toBe("completed");
    await page.locator(".heading .status", { hasText: "completed" }).waitFor();
    await page.getByText('"answers": 4').waitFor();
    const chain = await chainOf(run);
    expect(chain).toContain('"additional":0.3,"approved_by":"operator"');
    expect(chain).toContain("worth it");
    expect(visit.faults).toEqual([]);
  });

  test("ends when it is denied", async () => {
    const run = await scene.run("researcher");
    await using visit = await scene.visit(await requestOf(run));

    await visit.page.getByLabel("Reason").fill("too dear");
    await visit.page.getByRole("button", { name: "Deny" }).click();

    await visit.page.getByText("too dear", { exact: false }).waitFor();
    await expect.poll(() => statusOf(run), POLL).toBe("cancelled");
    await expect.poll(() => visit.page.getByRole("button", { name: "Approve" }).count(), POLL).toBe(0);
  });

  test("cannot be given what is no amount", async () => {
    const run = await scene.run("researcher");
    await using visit = await scene.visit(await requestOf(run));
    const { page } = visit;
    const field = page.getByLabel("More money in USD");
    const approve = page.getByRole("button", { name: "Approve" });

    await field.fill("lots");
    await page.getByText("Write a number, such as 0.25 or 1000.").waitFor();
    await expect.poll(() => approve.isDisabled(), POLL).toBe(true);
    await expect.poll(() => field.getAttribute("aria-invalid"), POLL).toBe("true");

    await field.fill("");
    await page.getByText("Write at least one amount").waitFor();
    await expect.poll(() => approve.isDisabled(), POLL).toBe(true);
    expect(await statusOf(run)).toBe("paused");
  });

  test("can be given more of something else along with it", async () => {
    const run = await scene.run("researcher");
    await using visit = await scene.visit(await requestOf(run));
    const { page } = visit;

    await page.getByLabel("Extend also").selectOption("Tokens");
    await page.getByLabel("More tokens").fill("700");
    await page.getByLabel("More money in USD").fill("1");
    await page.getByRole("button", { name: "Approve" }).click();

    await expect.poll(() => statusOf(run), POLL).toBe("completed");
    expect(await chainOf(run)).toContain('"additional":700');
  });
});

test("what others hold stands apart from what is used, in the sentence, the table and the bar", async () => {
  const { store } = scene;
  using gate = new Gate({ store });
  await gate.open("crew", { limits: { cost_usd: 2, llm_tokens: 5000, steps: 9 }, scope: "shared" });
  const call = { budget: "crew", call: "c", kind: "model", capability_id: "model:x" } as const;
  await store.apply([{ op: "reserve", ...call, asked: readAmounts({ cost_usd: 1.5, llm_tokens: 300 }) }]);
  const { id } = await requestExtension(store, { budget: "crew", dimension: "cost_usd", action: {} });
  await using visit = await scene.visit(`/approvals/${id}`);
  const card = visit.page.getByRole("article");

  await expect
    .poll(() => card.innerText(), POLL)
    .toContain(
      "$0.00 of $2.00 (0 %) is used, $1.50 is held for calls under way. The request does not say how much is needed; $2.00 is left.",
    );
  await expect.poll(() => card.getByRole("columnheader", { name: "Held" }).count(), POLL).toBe(1);
  const row = (name: RegExp) => card.getByRole("row", { name });
  await expect.poll(() => row(/^Cost/).innerText(), POLL).toMatch(/\$0\.00\s+\$1\.50\s+\$2\.00\s+0/);
  await expect.poll(() => row(/^Tokens/).innerText(), POLL).toMatch(/0\s+300\s+5,000\s+0/);
  await expect
    .poll(() => row(/^Cost/).getByRole("img").getAttribute("aria-label"), POLL)
    .toBe("Cost: $0.00 of $2.00 used (0 %), $1.50 held");
  await expect.poll(() => card.innerText(), POLL).toContain("Nothing used of: steps.");
  expect(visit.faults).toEqual([]);
});

test("a request of a tool says what it wants to do, and needs no amounts", async () => {
  const run = await scene.run("sender");
  await using visit = await scene.visit(`/runs/${run}`);

  await visit.page.getByRole("heading", { name: "sender asks to use send" }).waitFor();
  await visit.page.getByText("all@example.com").waitFor();
  await visit.page.getByRole("button", { name: "Approve" }).click();

  await expect.poll(() => statusOf(run), POLL).toBe("completed");
});

test("two windows that decide at once decide once, and the slower one is told", async () => {
  const run = await scene.run("researcher");
  const address = await requestOf(run);
  await using one = await scene.visit(address);
  await using other = await scene.visit(address);
  const approve = one.page.getByRole("button", { name: "Approve" });
  const deny = other.page.getByRole("button", { name: "Deny" });
  await approve.waitFor();
  await deny.waitFor();
  const answers: number[] = [];
  let release = () => {};
  const asked = new Promise<void>((resolve) => {
    release = resolve;
  });
  let waiting = 0;
  for (const { page } of [one, other]) {
    page.on("response", (response) => {
      if (response.request().method() === "POST") answers.push(response.status());
    });
    // Neither answer leaves its window before both have been given.
    await page.route(/\/(?:approve|deny)$/, async (route) => {
      if (++waiting === 2) release();
      await asked;
      await route.continue();
    });
  }

  await Promise.all([approve.click(), deny.click()]);

  await expect.poll(() => answers.toSorted(), POLL).toEqual([200, 409]);
  await expect.poll(() => statusOf(run), POLL).toMatch(/^(?:completed|cancelled|paused)$/);
  const late = (page: Page) => page.getByRole("status").filter({ hasText: "Too late" }).count();
  await expect.poll(async () => (await late(one.page)) + (await late(other.page)), POLL).toBe(1);
  const decided = (await chainOf(run)).split("\n").filter((line) => line.includes('"ApprovalDecided"'));
  expect(decided).toHaveLength(1);
});

test("everything can be done from the keyboard", async () => {
  const [first, second] = [await scene.run("researcher"), await scene.run("researcher", QUESTIONS, TIGHT)];
  await using visit = await scene.visit("/approvals");
  const { page } = visit;
  await page.locator(`article:has(a[href="/runs/${second}"])`).waitFor();
  const focused = () => page.evaluate("document.activeElement.closest('article')?.innerText ?? ''");

  // Newest first: the second run's card is the first one.
  await page.keyboard.press("j");
  await expect.poll(() => focused(), POLL).toContain(second);
  await page.keyboard.press("j");
  await expect.poll(() => focused(), POLL).toContain(first);
  await page.keyboard.press("k");
  await page.keyboard.press("a");
  await expect.poll(() => page.evaluate("document.activeElement.textContent"), POLL).toBe("Approve");
  expect(await statusOf(second)).toBe("paused");
  await page.keyboard.press("Enter");
  await expect.poll(async () => (await chainOf(second)).includes('"ApprovalDecided"'), POLL).toBe(true);

  await expect.poll(focused, POLL).toContain(first);
  await page.keyboard.press("d");
  await page.keyboard.press("Enter");
  await expect.poll(() => statusOf(first), POLL).toBe("cancelled");

  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
  // Keys of the page are off while the dialog is open, and it closes a moment after the key.
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor({ state: "hidden" });
  await page.keyboard.press("/");
  await page.getByRole("searchbox", { name: "Search" }).waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.type"), POLL).toBe("search");
});

test("single keys can be switched off", async () => {
  await using visit = await scene.visit("/");
  const { page } = visit;

  await page.getByRole("button", { name: "Help" }).click();
  await page.getByLabel("Single keys work").uncheck();
  await page.getByRole("button", { name: "Close" }).click();
  await page.keyboard.press("/");

  await expect.poll(() => new URL(page.url()).pathname, POLL).toBe("/");
});

test("a new request is announced, wherever the reader is", async () => {
  await scene.run("researcher");
  await using visit = await scene.visit("/config");
  await visit.page.getByRole("link", { name: "waiting" }).waitFor();

  await scene.run("researcher");

  await visit.page.locator("[aria-live]", { hasText: "New request: researcher waits for approval" }).waitFor();
});
