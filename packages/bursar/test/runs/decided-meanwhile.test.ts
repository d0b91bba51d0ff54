import { expect, test } from "vitest";
import type { Document, DocumentKind } from "../../src/core/document.js";
import { defineAgent } from "../../src/runs/agent.js";
import { type Bursar, openBursar } from "../../src/runs/bursar.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { runView } from "../../src/views/run-view.js";
import { ANN } from "./stage.js";

const program = defineAgent("counts", async (ctx) => {
  for (let step = 0; step < 2; step++) await ctx.step(`step ${step}`, () => step);
  return "done";
});
const TERMS = { id: "run", limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;

/** A store in which somebody is quicker than whoever looks for a request: he says yes before it is read. */
class HastyStore extends MemoryStore {
  decide: ((id: string) => Promise<unknown>) | null = null;

  override async document(kind: DocumentKind, id: string): Promise<Document | null> {
    const { decide } = this;
    if (kind === "approval" && decide !== null) {
      this.decide = null;
      await decide(id);
    }
    return super.document(kind, id);
  }
}

function opened(): { readonly store: HastyStore; readonly bursar: Bursar; readonly hurry: () => void } {
  const timer = new FakeClock();
  const store = new HastyStore({ clock: timer });
  const bursar = openBursar({ store, timer, programs: [program] });
  const hurry = () => {
    store.decide = (id) => bursar.decide(id, "approve", { by: ANN });
  };
  return { store, bursar, hurry };
}

test("a run that was decided over since it was looked at does not stand still for nothing", async () => {
  const { bursar } = opened();
  const { id } = await bursar.start("counts", null, TERMS);
  const paused = await bursar.drive(id);
  const before = await bursar.result(paused);
  expect(before).toMatchObject({ status: "paused", approval_id: expect.any(String) });
  await bursar.decide("run/checkpoint", "approve", { by: ANN });
  expect(await bursar.result(paused)).toMatchObject({ status: "queued" });
});

test("whoever runs a program gets its end when somebody decides the moment after it has paused", async () => {
  const { bursar, hurry } = opened();
  hurry();
  expect(await bursar.run("counts", null, TERMS)).toMatchObject({ status: "completed", result: "done" });
});

test("what is decided while a run is looked at is seen in its view", async () => {
  const { store, bursar, hurry } = opened();
  expect(await bursar.run("counts", null, TERMS)).toMatchObject({ status: "paused" });
  hurry();
  expect(await runView(store, "run")).toMatchObject({ status: "queued", requests: [] });
});

test("a pause that follows at once is told with its own request", async () => {
  const { store, bursar } = opened();
  const once = defineAgent("thrice", async (ctx) => {
    for (let step = 0; step < 3; step++) await ctx.step(`step ${step}`, () => step);
    return "done";
  });
  const first = await bursar.run(once, null, TERMS);
  const asked: string[] = [];
  store.decide = async (id) => {
    asked.push(id);
    await bursar.approve(id, { by: ANN, extensions: { steps: 1 } });
  };
  const told = await bursar.result(await bursar.find("run"));
  expect(first).toMatchObject({ status: "paused", approvals: asked });
  expect(told).toMatchObject({ status: "paused", usage: { steps: 2 } });
  expect(told).not.toMatchObject({ approvals: asked });
  expect(await store.document("approval", String((told as { approval_id: string }).approval_id))).toMatchObject({
    status: "pending",
  });
});
