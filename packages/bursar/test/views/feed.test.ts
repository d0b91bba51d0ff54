import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { Feed, type FeedOptions } from "../../src/views/feed.js";
import type { Changed } from "../../src/views/views.js";
import { ANN, Latch, pausedOf, settle, Theatre } from "../runs/stage.js";

const speaker = defineAgent("speaker", async (ctx, { words }: { words: string[] }) => {
  for (const text of words) await ctx.tool("echo", { text });
  return words.length;
});

/** A feed on a store to which others write too, and what it has told. */
class Listening {
  readonly theatre = new Theatre([speaker]);
  readonly told: Changed[] = [];
  readonly faults: unknown[] = [];
  readonly feed: Feed;

  constructor(options: Partial<FeedOptions> = {}) {
    const { store, clock: timer } = this.theatre;
    this.feed = new Feed({ store, timer, failed: (error) => this.faults.push(error), ...options });
  }

  async listen(): Promise<Disposable> {
    const listening = this.feed.changes((changed) => this.told.push(changed));
    await this.feed.ready();
    return listening;
  }

  /** The ids that were told since the last time, each once. */
  heard(): readonly string[] {
    const told = this.told.splice(0);
    return [...new Set(told.flatMap(({ runs, approvals }) => [...runs, ...approvals]))].sort();
  }

  async look(): Promise<readonly string[]> {
    this.theatre.clock.advance(500);
    await settle();
    return this.heard();
  }
}

const ASKING = { limits: { steps: 2 }, policies: { steps: "approval_required" } } as const;

test("what is written here is told at once, and not a second time by the next look", async () => {
  const scene = new Listening();
  using feed = scene.feed;
  using _ = await scene.listen();
  const bursar = scene.theatre.process({ store: feed.store });
  const result = pausedOf(
    await scene.theatre.until(bursar.run("speaker", { words: ["a", "b", "c"] }, { id: "r", ...ASKING }), 0),
  );
  const approval = result.approval_id ?? "";
  expect(scene.heard()).toEqual([approval, "r"].sort());
  expect(await scene.look()).toEqual([]);
  const more = bursar.approve(approval, { by: ANN, extensions: { steps: 5 } });
  await scene.theatre.until(more, 0);
  expect(scene.heard()).toEqual([approval, "r"].sort());
  expect(await scene.look()).toEqual([]);
  expect(scene.faults).toEqual([]);
});

test("every step is told, also those that change nothing but the chain", async () => {
  const scene = new Listening();
  using feed = scene.feed;
  const bursar = scene.theatre.process({ store: feed.store });
  await bursar.start("speaker", { words: [] }, { id: "r" });
  using _ = await scene.listen();
  expect(scene.heard()).toEqual([]);
  await feed.store.apply([{ op: "record", budget: "r", action: { action_type: "Note", data: {} } }]);
  await settle();
  expect(scene.heard()).toEqual(["r"]);
});

test("a chain that is no run's is nobody's news", async () => {
  const scene = new Listening();
  using feed = scene.feed;
  using _ = await scene.listen();
  const bursar = scene.theatre.process({ store: feed.store });
  await bursar.openSession("office", { steps: 5 });
  await settle();
  expect(scene.heard()).toEqual([]);
  expect(await scene.look()).toEqual([]);
});

test("what others write is told by the next look: what begins, goes on, pauses and ends", async () => {
  const scene = new Listening();
  using _ = await scene.listen();
  const { theatre } = scene;
  const other = theatre.process();
  expect(await scene.look()).toEqual([]);
  await other.start("speaker", { words: ["a", "b", "c"] }, { id: "r", ...ASKING });
  expect(scene.heard()).toEqual([]);
  expect(await scene.look()).toEqual(["r"]);
  expect(await scene.look()).toEqual([]);
  const result = pausedOf(
    await theatre.until(
      other.drive("r").then((run) => other.result(run)),
      0,
    ),
  );
  const approval = result.approval_id ?? "";
  expect(await scene.look()).toEqual([approval, "r"].sort());
  expect(await scene.look()).toEqual([]);
  await theatre.until(other.deny(approval, { by: ANN }), 0);
  expect(await scene.look()).toEqual([approval, "r"].sort());
  expect(await scene.look()).toEqual([]);
});

test("a run that begins and ends between two looks is told all the same", async () => {
  const scene = new Listening();
  using _ = await scene.listen();
  const { theatre } = scene;
  await theatre.until(theatre.process().run("speaker", { words: [] }, { id: "quick" }), 0);
  expect(await scene.look()).toEqual(["quick"]);
});

test("a step that another process takes is told, although nothing but the chain has changed", async () => {
  const scene = new Listening();
  const { theatre } = scene;
  const latch = new Latch();
  const waiter = defineAgent("waiter", async (ctx) => {
    await latch.opened;
    await ctx.tool("echo", { text: "a" });
    await new Promise(() => {});
  });
  const other = theatre.process({ programs: [waiter] });
  void other.run("waiter", null, { id: "r" }).catch(() => {});
  await settle();
  using _ = await scene.listen();
  expect(await scene.look()).toEqual([]);
  latch.open();
  await settle();
  expect(await scene.look()).toEqual(["r"]);
});

test("when nobody listens, nothing is looked at; and it begins anew with the next", async () => {
  const scene = new Listening();
  let looks = 0;
  const { store } = scene.theatre;
  const counted = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "latest" || name === "head") looks++;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const quiet = new Listening({ store: counted, timer: scene.theatre.clock });
  const advance = async () => {
    looks = 0;
    scene.theatre.clock.advance(5000);
    await settle();
    return looks > 0;
  };
  expect(await advance()).toBe(false);
  const first = await quiet.listen();
  const second = await quiet.listen();
  expect(await advance()).toBe(true);
  first[Symbol.dispose]();
  expect(await advance()).toBe(true);
  second[Symbol.dispose]();
  expect(await advance()).toBe(false);
  await scene.theatre.process().start("speaker", { words: [] }, { id: "r" });
  using _ = await quiet.listen();
  expect(await advance()).toBe(true);
  expect(quiet.heard()).toEqual([]);
  quiet.feed[Symbol.dispose]();
  expect(await advance()).toBe(false);
  expect(() => quiet.feed.changes(() => {})).toThrow("closed");
});

test("a listener that throws is told of, and the others hear it all the same", async () => {
  const scene = new Listening();
  using bad = scene.feed.changes(() => {
    throw new Error("not my day");
  });
  using _ = await scene.listen();
  await scene.theatre.process({ store: scene.feed.store }).start("speaker", { words: [] }, { id: "r" });
  expect(scene.heard()).toEqual(["r"]);
  expect(scene.faults).toMatchObject([{ message: "not my day" }]);
  expect(bad).toBeDefined();
});

test("a store that fails is looked at again", async () => {
  const scene = new Listening();
  const { store } = scene.theatre;
  let broken = false;
  const fragile = new Proxy(store, {
    get(target, name) {
      if (broken && name === "latest") throw new Error("away");
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const heard = new Listening({ store: fragile, timer: scene.theatre.clock });
  using _ = await heard.listen();
  broken = true;
  await scene.theatre.process().start("speaker", { words: [] }, { id: "r" });
  scene.theatre.clock.advance(500);
  await settle();
  expect(heard.faults).toMatchObject([{ message: "away" }]);
  broken = false;
  scene.theatre.clock.advance(500);
  await settle();
  expect(heard.heard()).toEqual(["r"]);
});

test("who comes while the last look of another is still under way misses nothing", async () => {
  const scene = new Listening();
  using _feed = scene.feed;
  const left = scene.feed.changes(() => {});
  left[Symbol.dispose]();
  using _ = await scene.listen();
  await scene.theatre.process().start("speaker", { words: [] }, { id: "r" });
  expect(await scene.look()).toEqual(["r"]);
});

test("after the handle is disposed nobody is called", async () => {
  const scene = new Listening();
  using feed = scene.feed;
  const { theatre } = scene;
  await theatre.process().start("speaker", { words: [] }, { id: "r" });
  const listening = await scene.listen();
  await settle();
  listening[Symbol.dispose]();
  await feed.store.apply([{ op: "record", budget: "r", action: { action_type: "Note", data: {} } }]);
  theatre.clock.advance(5000);
  await settle();
  expect(scene.heard()).toEqual([]);
});
