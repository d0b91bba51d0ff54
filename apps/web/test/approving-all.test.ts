import { Gate, readAmounts, requestExtension } from "bursar";
import { expect, test } from "vitest";
import { openScene, POLL } from "./scene.js";

test("all requests are approved at once, also where one finds room only after another", async () => {
  await using scene = await openScene();
  const { store } = scene;
  using gate = new Gate({ store });
  await gate.open("crowd", { limits: { steps: 4 }, scope: "shared" });
  await gate.open("seat", { limits: { steps: 2 }, parent: "crowd", scope: "shared" });
  for (const budget of ["crowd", "seat"])
    await store.apply([{ op: "charge", budget, call: `in ${budget}`, used: readAmounts({ steps: 2 }) }]);
  // The newest stands first.
  for (const budget of ["crowd", "seat"])
    await requestExtension(store, { budget, dimension: "steps", action: {}, asked: 1 });
  await using visit = await scene.visit("/approvals");
  await visit.page.getByRole("button", { name: "Approve all 2" }).click();
  await visit.page.getByRole("button", { name: "Yes, approve all" }).click();
  await expect.poll(async () => (await store.budget("crowd"))?.extended, POLL).toEqual({ steps: 2 });
  await expect.poll(async () => (await store.budget("seat"))?.extended, POLL).toEqual({ steps: 1 });
  await visit.page.getByRole("status").filter({ hasText: "2 of 2 requests are approved" }).waitFor();
});
