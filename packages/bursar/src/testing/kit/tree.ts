import assert from "node:assert/strict";
import type { Path } from "../../core/budget.js";
import type { Case } from "./scene.js";

/** Children, sessions, extensions, reserves and time. */
export const TREE: readonly Case[] = [
  {
    name: "a hundred children of half of what is left never hold more than the parent has",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 10, llm_tokens: 1000 }));
      const half = { kind: "fraction", of: 0.5 } as const;
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => scene.open(`child-${index}`, half, { parent: "run" })),
      );
      const { reserved, limits } = await scene.budget("run");
      assert.ok((reserved.cost_usd ?? 0) <= (limits.cost_usd ?? 0));
      assert.ok((reserved.llm_tokens ?? 0) <= (limits.llm_tokens ?? 0));
      for (let index = 0; index < 100; index++) await scene.end(`child-${index}`);
      await scene.expectUsed("run", {});
    },
  },
  {
    name: "what a child uses its parent has used, and the rest is returned when it ends",
    async run(scene) {
      await scene.open("session", scene.limits({ cost_usd: 20 }), { scope: "shared" });
      await scene.open("run", scene.limits({ cost_usd: 10 }), { parent: "session" });
      await scene.open("child", { kind: "fraction", of: 0.5 }, { parent: "run" });
      await scene.expectUsed("session", {}, { cost_usd: 5 });
      await scene.spend("child", "call", { cost_usd: 2 });
      await scene.expectUsed("run", { cost_usd: 2 }, { cost_usd: 3 });
      await scene.expectUsed("session", { cost_usd: 2 }, { cost_usd: 3 });
      assert.equal((await scene.reserve("child", "large", { cost_usd: 4 })).decision.kind, "stopped");
      await scene.end("child");
      await scene.expectUsed("run", { cost_usd: 2 });
      await scene.expectUsed("session", { cost_usd: 2 });
    },
  },
  {
    name: "an exhausted budget opens no children: they would be a way round",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 1, cost_usd: 1 }));
      await scene.spend("run", "call", { steps: 1 });
      await scene.reserve("run", "next", { steps: 1 });
      const { decision, budget } = await scene.open("child", { kind: "fraction", of: 0.5 }, { parent: "run" });
      assert.equal(decision.kind, "stopped");
      assert.equal(budget, null);
      assert.equal(await scene.store.budget("child"), null);
    },
  },
  {
    name: "a session clamps its runs to what it has left; what it does not name clamps nothing",
    async run(scene) {
      await scene.open("session", scene.limits({ steps: 10 }), { scope: "shared" });
      await scene.open("first", scene.limits({}), { parent: "session" });
      await scene.spend("first", "call", { steps: 7 });
      const limits = scene.amounts({ steps: 5, cost_usd: 1 });
      await scene.open("second", { kind: "limits", limits, clamp: true }, { parent: "session" });
      assert.deepEqual((await scene.budget("second")).limits, scene.amounts({ steps: 3, cost_usd: 1 }));
    },
  },
  {
    name: "thresholds fire once each, in order, and again when an extension has put them out of reach",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 10 }));
      const percents = async (call: string, steps: number) => {
        await scene.reserve("run", call, { steps });
        return (await scene.commit(call, { steps })).notices.map(({ percent }) => percent);
      };
      assert.deepEqual(await percents("a", 4), []);
      assert.deepEqual(await percents("b", 5), [50, 80]);
      assert.deepEqual(await percents("c", 1), []);
      await scene.extend("run", { steps: 5 });
      assert.deepEqual(await percents("d", 2), [80]);
      assert.equal((await scene.events("run")).filter((event) => event === "Warning").length, 3);
    },
  },
  {
    name: "an extension is recorded, ends the exhaustion, and is refused where an ancestor has no room",
    async run(scene) {
      await scene.open("session", scene.limits({ steps: 3 }), { scope: "shared" });
      await scene.open("run", scene.limits({ steps: 1 }), { parent: "session", chain: "run" });
      await scene.spend("run", "a", { steps: 1 });
      assert.equal((await scene.reserve("run", "b", { steps: 1 })).decision.kind, "stopped");
      assert.equal(await scene.extend("run", { steps: 3 }), "no_room");
      assert.equal(await scene.extend("run", { steps: 2 }), "extended");
      await scene.spend("run", "b", { steps: 2 });
      const extended = (await scene.links("run")).find(({ event }) => event === "Extended");
      const { dimension, additional, approved_by, reason } = extended?.data ?? {};
      assert.deepEqual([dimension, additional, approved_by, reason], ["steps", 2, "ada", "more to do"]);
      assert.deepEqual((await scene.budget("run")).limits, scene.amounts({ steps: 1 }), "limits are immutable");
    },
  },
  {
    name: "only the final answer may use the wrap-up reserve, even after exhaustion",
    async run(scene) {
      await scene.open("session", scene.limits({ cost_usd: 20 }), { scope: "shared" });
      await scene.open("run", scene.limits({ cost_usd: 10, steps: 100 }), { parent: "session" });
      await scene.open("final", { kind: "wrap_up", amounts: scene.amounts({ cost_usd: 2 }) }, { parent: "run" });
      await scene.spend("run", "work", { cost_usd: 8, steps: 1 });
      assert.equal((await scene.reserve("run", "more", { cost_usd: 1 })).decision.kind, "stopped");
      await scene.spend("final", "answer", { cost_usd: 1.5, steps: 1 });
      await scene.expectUsed("run", { cost_usd: 9.5, steps: 2 });
      await scene.end("final");
      await scene.expectUsed("session", { cost_usd: 9.5, steps: 2 });
    },
  },
  {
    name: "a look within a list of operations sees what those before it have done, and undoes the list where there is no such budget",
    async run(scene) {
      await scene.open("session", scene.limits({ steps: 10 }), { scope: "shared" });
      await scene.open("run", scene.limits({ steps: 5 }), { parent: "session", chain: "run" });
      const look = { op: "look", budget: "run" } as const;
      const asked = scene.amounts({ steps: 2 });
      const call = { budget: "run", call: "a", kind: "tool", asked } as const;
      const outcomes = await scene.store.apply([look, { op: "reserve", ...call }, look]);
      const held = (path: Path) => path.map(({ id, reserved }) => [id, reserved.steps ?? 0]);
      assert.deepEqual(held(outcomes[0].path), [
        ["run", 0],
        ["session", 0],
      ]);
      assert.deepEqual(held(outcomes[2].path), [
        ["run", 2],
        ["session", 2],
      ]);
      assert.deepEqual(outcomes[2].path, await scene.store.path("run"));
      assert.deepEqual(outcomes[2].links, []);
      const commit = { op: "commit", call: "a", used: asked } as const;
      await assert.rejects(scene.store.apply([commit, { op: "look", budget: "nowhere" }]), /no budget nowhere/);
      await scene.expectUsed("run", {}, { steps: 2 });
    },
  },
  {
    name: "a clock runs by itself, stops for a pause, and a deadline stops for nobody",
    async run(scene) {
      const deadline = scene.clock.now().instant + 10_000;
      await scene.open("run", scene.limits({ wall_clock_ms: 1000, steps: 100 }), { deadline });
      scene.clock.advance(600);
      await scene.store.apply([{ op: "pause", budget: "run" }]);
      scene.clock.advance(5000);
      await scene.store.apply([{ op: "resume", budget: "run" }]);
      await scene.spend("run", "a", { steps: 1 });
      scene.clock.advance(400);
      const late = await scene.reserve("run", "b", { steps: 1 });
      assert.equal(late.decision.findings[0]?.dimension, "wall_clock_ms");
      await scene.extend("run", { wall_clock_ms: 100_000 });
      await scene.spend("run", "c", { steps: 1 });
      scene.clock.jump(4000);
      assert.equal((await scene.reserve("run", "d", { steps: 1 })).decision.findings[0]?.dimension, "deadline");
      scene.clock.jump(-8000);
      assert.equal((await scene.reserve("run", "e", { steps: 1 })).decision.kind, "stopped", "it stays passed");
    },
  },
  {
    name: "a clock can be stopped as of an earlier instant, but not before it was started",
    async run(scene) {
      const pauseAt = (at: number) => scene.store.apply([{ op: "pause", budget: "run", at }]);
      const elapsed = async () => (await scene.store.budget("run"))?.watch.elapsed;
      await scene.open("run", scene.limits({ wall_clock_ms: 100_000 }));
      scene.clock.advance(600);
      const gone = scene.clock.now().instant;
      scene.clock.advance(50_000);
      await pauseAt(gone);
      assert.equal(await elapsed(), 600);
      await scene.store.apply([{ op: "resume", budget: "run" }]);
      scene.clock.advance(100);
      await pauseAt(gone);
      assert.equal(await elapsed(), 600);
      await scene.store.apply([{ op: "resume", budget: "run" }]);
      scene.clock.advance(300);
      await pauseAt(scene.clock.now().instant + 5000);
      assert.equal(await elapsed(), 900);
    },
  },
  {
    name: "a chain begins with the allocation, ends with the final consumption, and every link names an earlier cause",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 2 }));
      await scene.spend("run", "a", { steps: 1 });
      await scene.spend("run", "b", { steps: 1 });
      await scene.reserve("run", "c", { steps: 1 });
      await scene.store.apply([
        { op: "record", budget: "run", action: { action_type: "Note", data: { text: "é ✓" } } },
      ]);
      await scene.end("run");
      const expected = ["Allocation", "Consumption", "Warning", "Consumption", "Warning", "Exhausted", "RunCompleted"];
      assert.deepEqual(await scene.events("run"), expected);
      const links = await scene.links("run");
      for (const { cause, seq } of links) assert.ok(cause === null ? seq === 0 : Number(cause.split("#")[1]) < seq);
      const later: string[] = [];
      for await (const line of scene.store.chain("run", links.length - 2)) later.push(line);
      assert.equal(later.length, 2);
      assert.equal(await scene.store.head("nothing"), null);
      assert.deepEqual(await scene.links("nothing"), []);
    },
  },
  {
    name: "whoever watches is told when amounts may be free again, and no longer when he leaves",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 2 }));
      let told = 0;
      const watching = scene.store.watch(() => told++);
      await scene.spend("run", "a", { steps: 1 });
      await until(() => told > 0);
      watching[Symbol.dispose]();
      const before = told;
      await scene.spend("run", "b", { steps: 1 });
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(told, before);
    },
  },
  {
    name: "a listener of runs is told when one is queued, and no longer when it leaves",
    async run(scene) {
      let told = 0;
      const watching = scene.store.watch(() => told++, "runs");
      const run = { op: "put", kind: "run", id: "a", budget: null, status: "queued", body: {}, version: 0 } as const;
      await scene.store.apply([run]);
      await until(() => told > 0);
      watching[Symbol.dispose]();
      const before = told;
      await scene.store.apply([{ ...run, version: 1 }]);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(told, before);
    },
  },
];

async function until(holds: () => boolean): Promise<void> {
  for (let attempt = 0; !holds(); attempt++) {
    assert.ok(attempt < 1000, "the store should have told whoever watches");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
