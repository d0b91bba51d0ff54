import assert from "node:assert/strict";
import type { ReserveOperation } from "../../core/operation.js";
import type { Case } from "./scene.js";

/** Exactly once, and never guessed in the agent's favour. */
export const SETTLEMENT: readonly Case[] = [
  {
    name: "less than reserved is free again at once, more is the truth and overdraws",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 1 }));
      await scene.reserve("run", "less", { cost_usd: 0.9 });
      await scene.commit("less", { cost_usd: 0.2 });
      await scene.expectUsed("run", { cost_usd: 0.2 });
      await scene.reserve("run", "more", { cost_usd: 0.5 });
      const { notices } = await scene.commit("more", { cost_usd: 1.5 });
      await scene.expectUsed("run", { cost_usd: 1.7 });
      assert.deepEqual(
        notices.map(({ kind, percent }) => [kind, percent]),
        [
          ["Warning", 50],
          ["Warning", 80],
          ["Exhausted", 100],
        ],
      );
      assert.equal((await scene.reserve("run", "next", {})).decision.kind, "stopped");
    },
  },
  {
    name: "a release charges nothing",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 1 }));
      await scene.reserve("run", "call", { cost_usd: 1 });
      const [first, second] = await scene.store.apply([
        { op: "release", call: "call" },
        { op: "release", call: "call" },
      ]);
      assert.deepEqual([first.repeated, second.repeated], [false, true]);
      await scene.expectUsed("run", {});
    },
  },
  {
    name: "every call counts once, however often it is delivered",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 1 }));
      assert.equal((await scene.reserve("run", "call", { cost_usd: 0.4 })).repeated, false);
      assert.equal((await scene.reserve("run", "call", { cost_usd: 0.4 })).repeated, true);
      await scene.expectUsed("run", {}, { cost_usd: 0.4 });
      for (const repeated of [false, true, true])
        assert.equal((await scene.commit("call", { cost_usd: 0.3 })).repeated, repeated);
      for (const repeated of [false, true]) {
        const used = scene.amounts({ cost_usd: 0.2 });
        const [charge] = await scene.store.apply([{ op: "charge", budget: "run", call: "direct", used }]);
        assert.equal(charge.repeated, repeated);
      }
      await scene.expectUsed("run", { cost_usd: 0.5 });
      await assert.rejects(scene.reserve("run", "call", { cost_usd: 0.1 }), /other amounts/);
    },
  },
  {
    name: "missing usage is charged as reserved and marked; a late report corrects it, once",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 1, llm_tokens: 1000 }));
      await scene.reserve("run", "call", { cost_usd: 0.4, llm_tokens: 300 }, { kind: "model" });
      assert.equal((await scene.commit("call", {})).estimated, true);
      await scene.expectUsed("run", { cost_usd: 0.4, llm_tokens: 300 });
      assert.equal((await scene.commit("call", { cost_usd: 0.1, llm_tokens: 120 })).estimated, false);
      assert.equal((await scene.commit("call", { cost_usd: 0.9, llm_tokens: 900 })).repeated, true);
      await scene.expectUsed("run", { cost_usd: 0.1, llm_tokens: 120 });
    },
  },
  {
    name: "every record of consumption says how long the call took: as told, else from its reservation on",
    async run(scene) {
      const expires = scene.clock.now().instant + 400;
      await scene.open("run", scene.limits({ cost_usd: 10 }));
      const calls = ["measured", "told", "back"];
      for (const call of calls) await scene.reserve("run", call, { cost_usd: 1 }, { kind: "model" });
      await scene.reserve("run", "dead", { cost_usd: 1 }, { kind: "model", expires });
      scene.clock.advance(250);
      await scene.commit("measured", {});
      await scene.store.apply([
        { op: "commit", call: "told", used: scene.amounts({ cost_usd: 0.5 }), duration_ms: 20 },
        { op: "release", call: "back" },
      ]);
      scene.clock.advance(250);
      await scene.store.apply([{ op: "expire" }]);
      for (const call of ["measured", "dead", "back"]) await scene.commit(call, { cost_usd: 0.1 });
      const told = (await scene.links("run")).filter(({ event }) => event === "Consumption");
      assert.deepEqual(
        told.map(({ data }) => [data.step_id, (data.metadata as { readonly duration_ms?: number }).duration_ms]),
        [
          ["measured", 250],
          ["told", 20],
          ["dead", 500],
          ["measured", 250],
          ["dead", 500],
          ["back", 250],
        ],
      );
    },
  },
  {
    name: "a model call without usage or reserved tokens is charged its estimate, a tool is not",
    async run(scene) {
      await scene.open("run", scene.limits({ llm_tokens: 1000 }));
      const estimate = scene.amounts({ llm_tokens: 30, llm_input_tokens: 10, llm_output_tokens: 20 });
      await scene.reserve("run", "model", {}, { kind: "model" });
      await scene.reserve("run", "tool", {}, { kind: "tool" });
      await scene.store.apply([
        { op: "commit", call: "model", used: {}, estimate },
        { op: "commit", call: "tool", used: {}, estimate },
      ]);
      await scene.expectUsed("run", { llm_tokens: 30, llm_input_tokens: 10, llm_output_tokens: 20 });
    },
  },
  {
    name: "a dead holder's reservation is settled by the kind of its call",
    async run(scene) {
      const expires = scene.clock.now().instant + 1000;
      await scene.open("run", scene.limits({ cost_usd: 10 }));
      await scene.reserve("run", "model", { cost_usd: 1 }, { kind: "model", expires });
      await scene.reserve("run", "tool", { cost_usd: 2 }, { kind: "tool", expires });
      await scene.reserve("run", "alive", { cost_usd: 3 }, { kind: "model", expires: expires + 1 });
      scene.clock.advance(999);
      assert.deepEqual((await scene.store.apply([{ op: "expire" }]))[0].calls, []);
      scene.clock.advance(1);
      const [{ calls }, again] = await scene.store.apply([{ op: "expire" }, { op: "expire" }]);
      assert.deepEqual([...calls].sort(), ["model", "tool"]);
      assert.deepEqual(again.calls, []);
      await scene.expectUsed("run", { cost_usd: 1 }, { cost_usd: 3 });
      await scene.commit("model", { cost_usd: 0.25 });
      await scene.commit("tool", { cost_usd: 0.5 });
      await scene.expectUsed("run", { cost_usd: 0.75 }, { cost_usd: 3 });
    },
  },
  {
    name: "what is given back for a dead holder is settled by the kind of its call too",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 10 }));
      await scene.reserve("run", "model", { cost_usd: 1 }, { kind: "model" });
      await scene.reserve("run", "tool", { cost_usd: 2 }, { kind: "tool" });
      const dead = (call: string) => scene.store.apply([{ op: "release", call, dead: true }]);
      for (const repeated of [false, true]) {
        for (const call of ["model", "tool"]) assert.equal((await dead(call))[0].repeated, repeated);
      }
      await scene.expectUsed("run", { cost_usd: 1 });
      await scene.commit("model", { cost_usd: 0.25 });
      await scene.expectUsed("run", { cost_usd: 0.25 });
    },
  },
  {
    name: "a list of operations happens as a whole or not at all",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 1 }));
      const head = await scene.store.head("run");
      const asked = scene.amounts({ cost_usd: 0.5 });
      const broken = scene.store.apply([
        { op: "reserve", budget: "run", call: "a", kind: "tool", asked },
        { op: "open", parent: "run", opening: { id: "child", scope: "run", grant: { kind: "fraction", of: 0.5 } } },
        { op: "commit", call: "unknown", used: {} },
      ]);
      await assert.rejects(broken, /no call unknown/);
      await scene.expectUsed("run", {});
      assert.equal(await scene.store.budget("child"), null);
      assert.deepEqual(await scene.store.head("run"), head);
    },
  },
  {
    name: "a refusal in a list is an outcome, and the others stand",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 2 }));
      await scene.reserve("run", "a", { steps: 2 });
      const asked = scene.amounts({ steps: 1 });
      const [commit, reserve] = await scene.store.apply([
        { op: "commit", call: "a", used: scene.amounts({ steps: 2 }) },
        { op: "reserve", budget: "run", call: "b", kind: "tool", asked },
      ]);
      assert.equal(commit.repeated, false);
      assert.equal(reserve.decision.kind, "stopped");
      await scene.expectUsed("run", { steps: 2 });
    },
  },
  {
    name: "what makes no sense is refused with its reason, and changes nothing",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 2 }));
      await assert.rejects(scene.open("run", scene.limits({})), /already/);
      await assert.rejects(scene.reserve("nobody", "a", {}), /no budget nobody/);
      await scene.reserve("run", "open", { steps: 1 });
      await assert.rejects(scene.end("run"), /settle or end them first/);
      await scene.commit("open", { steps: 1 });
      await scene.end("run");
      await assert.rejects(scene.reserve("run", "late", {}), /has ended/);
      await assert.rejects(scene.extend("run", { steps: 1 }), /has ended/);
      await scene.expectUsed("run", { steps: 1 });
    },
  },
  {
    name: "calls that hold something are listed by id with their holder, and settled calls are not",
    async run(scene) {
      const { store } = scene;
      await scene.open("run", scene.limits({ steps: 2000 }));
      const ids = Array.from({ length: 1200 }, (_, index) => `call-${String(index).padStart(4, "0")}`);
      const asked = scene.amounts({ steps: 1 });
      const reserve = (call: string): ReserveOperation => {
        return { op: "reserve", kind: "tool", budget: "run", call, asked, holder: `process of ${call}` };
      };
      for (let at = 0; at < ids.length; at += 100) await store.apply(ids.slice(at, at + 100).map(reserve));
      const settled = new Set(ids.filter((_, index) => index % 3 === 0));
      for (const call of settled) await store.apply([{ op: "commit", call, used: asked }]);
      const held: string[] = [];
      for await (const call of store.heldCalls()) {
        assert.equal(call.holder, `process of ${call.id}`);
        held.push(call.id);
      }
      assert.deepEqual(
        held,
        ids.filter((id) => !settled.has(id)),
      );
    },
  },
];
