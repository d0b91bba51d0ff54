import { afterAll, beforeAll, expect, test } from "vitest";
import { openScene, POLL, QUESTIONS, type Scene } from "./scene.js";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

test("a page that is disconnected says so, comes back by itself and shows what it has missed", async () => {
  await using visit = await scene.visit("/");
  const { page } = visit;
  await page.getByText("Nothing is running.").waitFor();

  await scene.stopServer();
  await page.getByText("Disconnected.").waitFor();
  await page.getByText("Nothing is running.").waitFor();

  const run = await scene.run("researcher");
  await scene.restartServer();
  await page.locator(`a[href="/runs/${run}"]`).first().waitFor();
  await expect.poll(() => page.getByText("Disconnected.").count(), POLL).toBe(0);
});

test("whoever does not want to wait connects at once", async () => {
  await using visit = await scene.visit("/runs");
  await visit.page.getByRole("heading", { name: "Runs" }).waitFor();
  await scene.stopServer();
  const connect = visit.page.getByRole("button", { name: "Connect now" });
  await connect.waitFor();
  await scene.restartServer();

  await connect.click();

  await expect.poll(() => visit.page.getByText("Disconnected.").count(), POLL).toBe(0);
});

test("what happens before the stream of changes is open is shown all the same", async () => {
  await using visit = await scene.visit("/verify");
  const { page } = visit;
  await page.getByRole("heading", { name: "Verify a chain" }).waitFor();
  let run = "";
  await page.route("**/api/v1/events", async (route) => {
    await page.getByRole("searchbox").waitFor();
    run = await scene.run("researcher", QUESTIONS, { limits: { cost_usd: 1 } });
    await route.continue();
  });

  await page.goto(`${scene.url}/runs?text=researcher`);

  await expect.poll(() => run, POLL).not.toBe("");
  await page.locator(`tr:has(a[href="/runs/${run}"])`, { hasText: "completed" }).waitFor();
});

test("what happens elsewhere appears without anybody asking for it", async () => {
  await using visit = await scene.visit("/runs");
  await visit.page.getByRole("searchbox").waitFor();

  const run = await scene.run("researcher", QUESTIONS, { limits: { cost_usd: 1 } });

  await visit.page.locator(`tr:has(a[href="/runs/${run}"])`, { hasText: "completed" }).waitFor();
});

test("beside a hundred listeners of one client, the page and all of them hear of a run", async () => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const listeners = await Promise.all(
    Array.from({ length: 100 }, () => fetch(`${scene.url}/api/v1/events`, { signal })),
  );
  await using visit = await scene.visit("/runs");
  await visit.page.getByRole("searchbox").waitFor();

  const run = await scene.run("researcher", QUESTIONS, { limits: { cost_usd: 1 } });

  await visit.page.locator(`tr:has(a[href="/runs/${run}"])`, { hasText: "completed" }).waitFor();
  await Promise.all(listeners.map((listener) => heard(listener, run)));
  leaving.abort();
});

/** Reads events until one names it. */
async function heard({ body }: Response, run: string): Promise<void> {
  let text = "";
  for await (const piece of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes(run)) return;
  }
  throw new Error(`the stream has ended, and ${run} was not in it`);
}

test("a page before a server that is gone says what to do, and starts when it is back", async () => {
  await using visit = await scene.visit("/");
  await visit.page.getByRole("heading", { name: "Overview" }).waitFor();
  await visit.page.route("**/api/v1/me", (route) => route.abort());
  await visit.page.reload();
  await visit.page.getByRole("alert").getByText("The server cannot be reached.").waitFor();

  await visit.page.unroute("**/api/v1/me");
  await visit.page.getByRole("button", { name: "Try again" }).click();

  await visit.page.getByRole("heading", { name: "Overview" }).waitFor();
});

test.for(["/runs/none-of-this-name", "/approvals/none", "/runs/none/chain", "/nowhere/at/all"])(
  "%s says that there is nothing, and not that something broke",
  async (path) => {
    await using visit = await scene.visit(path);

    await visit.page
      .getByText(/[Tt]here is no (?:run|approval|request|page)/)
      .first()
      .waitFor();
  },
);

test("a page that cannot be shown leaves everything around it standing", async () => {
  await using visit = await scene.visit("/verify");
  const { page } = visit;
  await page.route("**/api/v1/overview", (route) => route.fulfill({ json: { surprising: true } }));

  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("heading", { name: "This page cannot be shown" }).waitFor();

  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await page.getByRole("searchbox").waitFor();
});

test("a tab that is not in sight shows how many requests wait", async () => {
  await using visit = await scene.visit("/config");
  await scene.run("researcher");

  await expect.poll(() => visit.page.title(), POLL).toMatch(/^\(\d+\) Configuration · Bursar$/);
});
