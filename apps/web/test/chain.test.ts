import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Keys } from "bursar/gateway";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openScene, POLL, type Scene, TIGHT } from "./scene.js";

let scene: Scene;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-chain-"));
  scene = await openScene();
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function linesOf(run: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of scene.store.chain(run)) lines.push(line);
  return lines;
}

/** Makes a chain longer, by hand. */
async function lengthen(run: string, links: number): Promise<void> {
  for (let at = 0; at < links; at += 500) {
    const action = (index: number) => ({ action_type: "Noted", data: { note: `${at + index}` } });
    await scene.store.apply(
      Array.from({ length: 500 }, (_, index) => ({ op: "record" as const, budget: run, action: action(index) })),
    );
  }
}

test("a chain is shown link by link, and verified by the browser itself", async () => {
  const run = await scene.run("researcher");
  await using visit = await scene.visit(`/runs/${run}/chain`);
  const { page } = visit;

  await page.getByText(/Verified in this browser: \d+ links/).waitFor();
  await page.getByRole("button", { name: "Exhausted" }).click();

  const detail = page.getByRole("complementary", { name: "The chosen link" });
  await detail.getByText("Cost exhausted: $0.08 of $0.10, approval_required").waitFor();
  await detail.getByText('"dimension": "cost_usd"').waitFor();
  expect(visit.faults).toEqual([]);
});

test("chains of sessions and keys are found where they are listed, and verified too", async () => {
  await scene.bursar.openSession("crew", { cost_usd: 5, steps: 100 });
  await scene.run("researcher", undefined, { ...TIGHT, session: "crew" });
  await scene.bursar.extend("session:crew", { cost_usd: 1 }, { by: { name: "ann", role: "operator" } });
  await new Keys(scene.store).create({ label: "robot", budget: "session:crew" });
  await using visit = await scene.visit("/sessions");
  const { page } = visit;

  await page.getByRole("link", { name: "Causal chain of crew" }).click();
  await page.getByText(/Verified in this browser: \d+ links/).waitFor();
  await page.getByRole("button", { name: "Extended" }).click();
  await page.getByRole("complementary", { name: "The chosen link" }).getByText('"approved_by": "ann"').waitFor();

  await page.goto(`${scene.url}/keys`);
  await page.getByRole("link", { name: "Causal chain of robot" }).click();
  await page.getByText(/Verified in this browser: \d+ links?/).waitFor();
  await page.getByRole("button", { name: "Allocation" }).first().waitFor();
  expect(visit.faults).toEqual([]);
});

test("a phone shows the whole names of the links", async () => {
  const run = await scene.run("researcher");
  await lengthen(run, 100);
  await using visit = await scene.visit(`/runs/${run}/chain`, { viewport: { width: 390, height: 844 } });
  await visit.page.getByRole("button", { name: "ApprovalRequested" }).waitFor();

  const cut = `[...document.querySelectorAll(".row-button")].filter((it) => it.scrollWidth > it.clientWidth).length`;
  await expect.poll(() => visit.page.evaluate(cut), POLL).toBe(0);
});

test("keys lead up a chain without hiding a link behind its heading", async () => {
  const run = await scene.run("researcher");
  await lengthen(run, 100);
  await using visit = await scene.visit(`/runs/${run}/chain`);
  const { page } = visit;
  await page.getByRole("button", { name: "Last" }).click();
  await page.locator('button[data-item]:text("Noted")').last().focus();

  for (let press = 0; press < 40; press++) {
    await page.keyboard.press("k");
    const hidden = await page.evaluate(`document.querySelector(".links thead th").getBoundingClientRect().bottom
      - document.activeElement.getBoundingClientRect().top`);
    expect(hidden).toBeLessThanOrEqual(1);
  }
});

describe("ten thousand links", () => {
  test("are verified, and scrolled through with less than 200 rows in the document", async () => {
    const run = await scene.run("researcher");
    await lengthen(run, 10_000);
    const total = (await linesOf(run)).length;
    await using visit = await scene.visit(`/runs/${run}/chain`);
    const { page } = visit;
    const rows = () => page.locator("tr").count();

    await page.getByText(`Verified in this browser: ${total.toLocaleString("en-US")} links`).waitFor();
    await page.getByRole("button", { name: "Allocation" }).waitFor();
    await expect.poll(() => rows(), POLL).toBeLessThan(200);

    await page.getByRole("button", { name: "Last" }).click();
    await page
      .locator(`tr[aria-rowindex="${total + 1}"]`)
      .getByRole("button", { name: "Noted" })
      .click();
    await page.getByText('"note": "9999"').waitFor();
    await expect.poll(() => rows(), POLL).toBeLessThan(200);

    await page.getByLabel("Go to link").fill("5000");
    await page.getByRole("button", { name: "Go", exact: true }).click();
    await page.locator('tr[aria-rowindex="5002"]').waitFor();
    await expect.poll(() => rows(), POLL).toBeLessThan(200);
    expect(visit.faults).toEqual([]);
  });
});

test("a chain that grows is followed, and can be verified again", async () => {
  const run = await scene.run("researcher");
  await using visit = await scene.visit(`/runs/${run}/chain`);
  await visit.page.getByText(/Verified in this browser/).waitFor();

  await scene.store.apply([{ op: "record", budget: run, action: { action_type: "Noted", data: { note: "late" } } }]);

  await visit.page.getByText("1 more since then").waitFor();
  await visit.page.getByRole("button", { name: "Noted" }).waitFor();
  await visit.page.getByRole("button", { name: "Verify again" }).click();
  await expect.poll(() => visit.page.getByText("1 more since then").count(), POLL).toBe(0);
});

describe("an exported chain", () => {
  async function verify(lines: readonly string[], path = "/verify") {
    const file = join(folder, "chain.jsonl");
    await writeFile(file, lines.map((line) => `${line}\n`).join(""));
    const visit = await scene.visit(path);
    await visit.page.locator("input[type=file]").setInputFiles(file);
    return visit;
  }

  test("is found intact, with the head that it ends with", async () => {
    const run = await scene.run("researcher");
    const lines = await linesOf(run);
    await using visit = await verify(lines);

    await visit.page.getByText(`Verified in this browser: ${lines.length} links`).waitFor();
    await visit.page.getByText(`Chain ${run}, up to link ${lines.length - 1}`).waitFor();
  });

  test("is held against what the server has", async () => {
    const run = await scene.run("researcher");
    const lines = await linesOf(run);
    await using whole = await verify(lines, `/runs/${run}/chain`);
    await whole.page.getByText("It ends with the head that the server has.").waitFor();

    await using cut = await verify(lines.slice(0, -2), `/runs/${run}/chain`);
    await cut.page.getByText(`It ends at link ${lines.length - 3}; the server's chain ends at`).waitFor();
  });

  test.for([
    ["changed", (lines: string[]) => lines.with(3, (lines[3] ?? "").replace('"epoch":1', '"epoch":2')), /Line 4/],
    ["dropped", (lines: string[]) => lines.toSpliced(4, 1), /Line 5/],
    ["moved", (lines: string[]) => [...lines.slice(0, 2), lines[3] ?? "", lines[2] ?? "", ...lines.slice(4)], /Line 3/],
    ["none", () => ["this is no link"], /Line 1/],
  ] as const)("is not intact when a link was %s", async ([, tamper, where]) => {
    const run = await scene.run("researcher");
    await using visit = await verify(tamper(await linesOf(run)));

    const badge = visit.page.getByRole("alert");
    await badge.getByText("Not intact.").waitFor();
    await expect.poll(() => badge.innerText(), POLL).toMatch(where);
  });
});
