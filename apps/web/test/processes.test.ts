import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBursar, openStore } from "bursar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openScene, POLL, type Scene } from "./scene.js";

let folder: string;
let scene: Scene;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-processes-"));
  scene = await openScene({ store: await openStore(`sqlite:${folder}/bursar.db`) });
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

test("what somebody else does to the same SQLite file appears in the page", async () => {
  const run = await scene.run("researcher");
  await using visit = await scene.visit(`/runs/${run}`);
  const { page } = visit;
  await page.getByRole("button", { name: "Approve" }).waitFor();

  await using store = await openStore(`sqlite:${folder}/bursar.db`);
  const elsewhere = openBursar({ store });
  const by = { name: "olga", role: "operator" } as const;
  const [request = ""] = Object.values((await elsewhere.find(run)).requests);
  await elsewhere.decide(request, "deny", { by, reason: "not from here" });

  await page.locator(".heading .status", { hasText: "denied" }).waitFor();
  await page.getByText("not from here").first().waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Approve" }).count(), POLL).toBe(0);
});
