import { expect, test } from "vitest";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { findItem } from "../../../src/runs/batch-item.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { COST_NANO, HOUR_MS, quiet, Scene } from "./scene.js";

const ASKED = { prompt: "one", max_tokens: 50 };

test("what was refused may be asked again under its name, when there is more", async () => {
  await using scene = await Scene.open();
  const desk = scene.desk();
  const poor = await scene.purse("poor", 0.000001);
  await expect(desk.call(poor, ASKED, { id: "a" })).rejects.toThrow(BudgetExceededError);
  await expect(desk.call(poor, ASKED, { id: "a" })).rejects.toThrow(BudgetExceededError);
  const rich = await scene.purse("rich", 1);
  expect(await scene.until(desk.call(rich, ASKED, { id: "a" }))).toMatchObject({ text: "You said: one" });
  expect(scene.server.count).toBe(1);
  expect(await scene.used("poor")).toMatchObject({ reserved: {} });
});

test("what was given up before it was sent may be made anew; what was sent is not sent again", async () => {
  await using scene = await Scene.open();
  const purse = await scene.purse("b", 1);
  const desk = scene.desk();
  await desk.hand(purse, ASKED, { id: "a" });
  await desk.forget("a");
  expect(await scene.until(desk.call(purse, ASKED, { id: "a" }))).toMatchObject({ text: "You said: one" });
  await desk.forget("a");
  await expect(desk.call(purse, ASKED, { id: "a" })).rejects.toMatchObject({ code: "batch_lost" });
  expect(scene.server.count).toBe(1);
  expect(await scene.used("b")).toMatchObject({ used: { cost_usd: COST_NANO, steps: 1 }, reserved: {} });
});

test("many who hand over under one name at the same time hand over one call", async () => {
  await using scene = await Scene.open();
  const desks = Array.from({ length: 5 }, () => scene.desk());
  const purse = await scene.purse("b", 1);
  const answers = await scene.until(Promise.all(desks.map((desk) => desk.call(purse, ASKED, { id: "a" }))));
  expect(answers).toMatchObject(desks.map(() => ({ text: "You said: one" })));
  expect(scene.server.count).toBe(1);
  expect(await scene.used("b")).toMatchObject({ used: { cost_usd: COST_NANO, steps: 1 }, reserved: {} });
});

test("two accounts at one address are two outlets when they are named, and neither sends what is the other's", async () => {
  await using scene = await Scene.open();
  const sent: string[] = [];
  const account = (name: string) =>
    scene.desk({
      name,
      fetch: (input, init) => {
        sent.push(name);
        return fetch(input, init);
      },
    });
  const [red, blue] = [account("red"), account("blue")];
  await red.hand(await scene.purse("b", 1), ASKED, { id: "a" });
  await scene.rounds(blue, 5);
  expect(sent).toEqual([]);
  await scene.rounds(red, 5);
  expect(new Set(sent)).toEqual(new Set(["red"]));
  expect(await red.answer("a")).toMatchObject({ text: "You said: one" });
});

test.each(["", "two\nlines", "a".repeat(101), 7])("an outlet is not called %j", async (name) => {
  await using scene = await Scene.open();
  expect(() => scene.desk({ name: name as string })).toThrow(
    /name is .*; allowed: 1 to 100 characters that can be printed/,
  );
});

test("two places at one host are two outlets, and neither sends what is the other's", async () => {
  await using scene = await Scene.open();
  const sent: string[] = [];
  const recording: typeof fetch = (input, init) => {
    sent.push(new URL(String(input)).pathname.split("/")[1] ?? "");
    return fetch(String(input).replace(/\/(?:red|blue)\/v1/, "/v1"), init);
  };
  const { origin } = new URL(scene.server.url);
  const red = scene.desk({ url: `${origin}/red/v1`, fetch: recording });
  const blue = scene.desk({ url: `${origin}/blue/v1`, fetch: recording });
  await red.hand(await scene.purse("b", 1), ASKED, { id: "a" });
  await scene.rounds(blue, 5);
  expect(sent).toEqual([]);
  await scene.rounds(red, 5);
  expect(new Set(sent)).toEqual(new Set(["red"]));
  expect(await red.answer("a")).toMatchObject({ text: "You said: one" });
});

test("a clock that is set back does not keep anybody waiting for as long", async () => {
  await using scene = await Scene.open({ batching: { polls: 3 }, clock: new FakeClock() });
  const purse = await scene.purse("b", 1);
  const desk = scene.desk();
  await desk.hand(purse, ASKED, { id: "a" });
  await scene.rounds(desk, 3);
  expect(scene.server.batches).toHaveLength(1);
  scene.clock.jump(-20 * HOUR_MS);
  await scene.rounds(desk, 10);
  expect(await scene.until(desk.answer("a"))).toMatchObject({ text: "You said: one" });
});

test("a round that is broken off or goes wrong leaves its turn to others at once", async () => {
  await using scene = await Scene.open();
  await scene.desk().hand(await scene.purse("b", 1), ASKED, { id: "a" });
  const away: typeof fetch = (_, init) =>
    new Promise((_, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const [stuck, broken, next] = [scene.desk({ fetch: away }), scene.desk({ fetch: () => null as never }), scene.desk()];
  scene.clock.advance(1000);
  const stop = new AbortController();
  const round = stuck.round({ signal: stop.signal });
  await quiet();
  stop.abort(new Error("enough"));
  await round.catch(() => {});
  expect(await scene.store.document("lease", leaseOf(scene))).toMatchObject({ status: "free" });
  scene.clock.advance(60_000);
  await broken.round().catch(() => {});
  expect(await scene.store.document("lease", leaseOf(scene))).toMatchObject({ status: "free" });
  expect(await scene.until(next.answer("a"), 30_000)).toMatchObject({ text: "You said: one" });
  expect(scene.server.count).toBe(1);
});

function leaseOf({ server }: Scene): string {
  return `batches:openai ${new URL(server.url).host}/v1/chat/completions`;
}

test("whoever waits at a desk that is closed is told", async () => {
  await using scene = await Scene.open({ batching: { takes_ms: HOUR_MS } });
  const desk = scene.desk();
  const call = desk.call(await scene.purse("b", 1), ASKED, { id: "a" });
  call.catch(() => {});
  await scene.rounds(desk, 2);
  await desk[Symbol.asyncDispose]();
  await expect(scene.until(call)).rejects.toMatchObject({ code: "closed" });
  // What was handed over is the store's, and is answered elsewhere.
  expect(await scene.until(scene.desk().answer("a"), 60_000)).toMatchObject({ text: "You said: one" });
});

test("a batch that cannot be dealt with keeps no other from being dealt with", async () => {
  await using scene = await Scene.open();
  const desk = scene.desk();
  await desk.hand(await scene.purse("b", 1), ASKED, { id: "a" });
  const outlet = (await findItem(scene.store, "item:own:a"))?.outlet ?? "";
  // As somebody might leave it who writes into the store by hand.
  const body = { outlet, next: 0, created: scene.clock.now().instant, provider_id: "x" };
  await scene.store.apply([
    { op: "put", kind: "batch", id: "batch:0", budget: null, status: "submitted", body, version: 0 },
  ]);
  for (let round = 0; round < 5; round++) {
    scene.clock.advance(1000);
    await desk.round().catch(() => {});
  }
  expect(await desk.answer("a")).toMatchObject({ text: "You said: one" });
});
