import { readFileSync } from "node:fs";
import { readAmounts } from "bursar";
import { Keys } from "bursar/gateway";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openScene, POLL, type Scene } from "./scene.js";

const CHECKS = readFileSync(new URL("in-page.js", import.meta.url), "utf8");
const DESKTOP = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

let scene: Scene;
let paused: string;
beforeAll(async () => {
  scene = await openScene({ server: { config: () => ({ file: "bursar.yaml", limits: LIMITS }) } });
  await scene.bursar.openSession("team", { cost_usd: 2 });
  await scene.run("researcher", { questions: ["one"] }, { session: "team", limits: { cost_usd: 1 } });
  await scene.run("researcher", undefined, { limits: { cost_usd: 0.1 }, policies: { cost_usd: "hard_stop" } });
  await scene.run("sender");
  paused = await scene.run("researcher");
  const keys = new Keys(scene.store);
  await scene.bursar.openSession("paying", { cost_usd: 10, llm_tokens: 100_000, network_egress_bytes: 10_485_760 });
  const call = { budget: "session:paying", call: "held", kind: "model" } as const;
  await scene.store.apply([{ op: "reserve", ...call, asked: readAmounts({ cost_usd: 2.5, llm_tokens: 41_000 }) }]);
  await keys.create({ budget: "session:paying", label: "build server of the whole team" });
  await scene.bursar.openSession("free", {});
  await keys.create({ budget: "session:free" });
});
afterAll(() => scene[Symbol.asyncDispose]());

const APPROVAL = { policy: "approval_required", origin: "/srv/agents/bursar.yaml:12:7" };
const LIMITS = [
  { dimension: "cost_usd", value: 0.5, ...APPROVAL },
  { dimension: "network_egress_bytes", value: 10_485_760, ...APPROVAL },
];

async function faultsOn(page: Page): Promise<unknown> {
  return page.evaluate(`${CHECKS}\nglobalThis.findFaults()`);
}

/** Each page, and what is there when it is ready. */
const PAGES: readonly (readonly [path: () => string, ready: string])[] = [
  [() => "/", "article"],
  [() => "/runs", "table.runs"],
  [() => "/runs?text=nothing-like-it", ".empty"],
  [() => "/runs?start=", ".empty"],
  [() => `/runs/${paused}`, "canvas"],
  [() => `/runs/${paused}/chain`, ".badge-good"],
  [() => "/approvals", "article"],
  [() => "/approvals?status=denied", ".empty"],
  [() => "/sessions", "table"],
  [() => "/keys", ".paid"],
  [() => "/tokens", ".empty"],
  [() => "/config", "table"],
  [() => "/verify", ".drop"],
  [() => "/runs/none", ".problem"],
  [() => "/nowhere", ".empty"],
];

describe.for([
  ["light, on a desktop", { ...DESKTOP, colorScheme: "light" }],
  ["dark, on a desktop", { ...DESKTOP, colorScheme: "dark" }],
  ["light, on a phone", { ...PHONE, colorScheme: "light" }],
  ["dark, on a phone", { ...PHONE, colorScheme: "dark" }],
] as const)("in %s", ([, look]) => {
  test("everything can be read, named and reached", async () => {
    await using visit = await scene.visit("/verify", look);
    const { page } = visit;
    for (const [path, ready] of PAGES) {
      await page.goto(`${scene.url}${path()}`);
      await page.locator(ready).first().waitFor();
      expect(await faultsOn(page), path()).toEqual([]);
    }
  });

  test("so it is with everything that opens", async () => {
    await using visit = await scene.visit("/keys", look);
    const { page } = visit;
    await page.getByText("New key").click();
    await page.getByLabel("Limit also").selectOption("fuel");
    await page.getByRole("button", { name: "Remove the limit of fuel" }).waitFor();
    await expect.poll(() => faultsOn(page), POLL).toEqual([]);
    await page.goto(`${scene.url}/runs/${paused}`);
    await page.getByLabel("More money in USD").fill("lots");
    for (const summary of await page.locator("summary").all()) await summary.click();
    await page.getByRole("button", { name: "Cancel run …" }).click();
    await page.getByRole("dialog").waitFor();
    await expect.poll(() => faultsOn(page), POLL).toEqual([]);
  });
});

test("the checks find what they look for", async () => {
  await using visit = await scene.visit("/verify");
  await visit.page.locator(".drop").waitFor();
  await visit.page.evaluate(`document.querySelector("main").insertAdjacentHTML("beforeend", \`
    <h4 id="main" class="note">jump</h4><button class="bad"></button><table><tr><td>1</td></tr></table><p class="faint">faint</p>\`);
    document.querySelector(".faint").style.color = "#999"; document.querySelector(".bad").style.height = "10px";
    document.querySelector(".faint").style.width = "3000px";`);

  const faults = String(await faultsOn(visit.page));

  for (const part of ["no name", "contrast of 2", "no caption", "no headers", "jumps to h4", "id main", "10 pixels"]) {
    expect(faults).toContain(part);
  }
  expect(faults).toContain("pixels wide in a window");
});

test("whoever uses the keyboard sees where he is, from the skip link to the last button", async () => {
  await using visit = await scene.visit(`/runs/${paused}`);
  const { page } = visit;
  await page.locator("canvas").first().waitFor();
  const order: string[] = [];
  for (let press = 0; press < 200; press++) {
    await page.keyboard.press("Tab");
    const at = (await page.evaluate(`(() => {
      const { activeElement: at } = document;
      const { outlineStyle, outlineWidth } = getComputedStyle(at);
      if (at === document.body) return null;
      return { name: at.textContent.trim(), seen: outlineStyle !== "none" && outlineWidth !== "0px" };
    })()`)) as { name: string; seen: boolean } | null;
    if (at === null) break;
    expect(at.seen, at.name).toBe(true);
    order.push(at.name);
  }
  expect(order[0]).toBe("Skip to content");
  const places = ["Overview", "Extend …", "Approve", "Deny", "Figures of cost"].map((name) => order.indexOf(name));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("whoever goes back with the keyboard finds nothing behind the heading of the page", async () => {
  await using visit = await scene.visit(`/runs/${paused}`, { viewport: { width: 1280, height: 500 } });
  const { page } = visit;
  await page.locator("canvas").first().waitFor();
  await page.locator("summary").last().focus();
  for (let press = 0; press < 15; press++) {
    await page.keyboard.press("Shift+Tab");
    const hidden = await page.evaluate(`document.querySelector(".top").getBoundingClientRect().bottom
      - document.activeElement.getBoundingClientRect().top`);
    expect(hidden, await page.evaluate("document.activeElement.textContent")).toBeLessThanOrEqual(1);
  }
});

test("the skip link leads past the navigation", async () => {
  await using visit = await scene.visit("/runs");
  await visit.page.getByRole("searchbox").waitFor();

  await visit.page.keyboard.press("Tab");
  await visit.page.keyboard.press("Enter");
  await visit.page.keyboard.press("Tab");

  await expect.poll(() => visit.page.evaluate("document.activeElement.textContent"), POLL).toBe("Start a run");
});

test.for([
  ["reduce", 0],
  ["no-preference", 1],
] as const)("whoever wants motion to be %s gets %d turning things", async ([reducedMotion, turning]) => {
  await using visit = await scene.visit("/verify", { reducedMotion });
  await visit.page.route("**/api/v1/overview", () => {});

  await visit.page.getByRole("link", { name: "Overview" }).click();
  await visit.page.getByText("Loading the overview …").waitFor();

  await expect.poll(() => visit.page.evaluate("document.getAnimations().length"), POLL).toBe(turning);
});

test("the theme can be chosen, and stays chosen", async () => {
  await using visit = await scene.visit("/", { colorScheme: "light" });
  const { page } = visit;
  const background = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
  const light = await background();

  await page.getByRole("button", { name: "Theme: system" }).click();
  await expect.poll(() => background(), POLL).not.toBe(light);
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark" }).click();
  await expect.poll(() => background(), POLL).toBe(light);
});
