import assert from "node:assert/strict";
import type { Operation } from "../../core/operation.js";
import type { Case } from "./scene.js";

/** Ways round a limit that were found and closed, so that no store opens them again. */
export const FAULTS: readonly Case[] = [
  {
    name: "what can be no name of anything is not found, and no fault of the store's",
    async run(scene) {
      const { store } = scene;
      const id = "run\0";
      assert.deepEqual([await store.budget(id), await store.path(id), await store.head(id)], [null, [], null]);
      assert.equal(await store.document("run", id), null);
      const found: unknown[] = [];
      for await (const line of store.chain(id)) found.push(line);
      for await (const entry of store.journal(id)) found.push(entry);
      for await (const document of store.documents("run", id)) found.push(document);
      assert.deepEqual(found, []);
    },
  },
  {
    name: "a call that is settled is not admitted again under the same id",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 1 }));
      await scene.spend("run", "call", { cost_usd: 0.5 });
      await assert.rejects(scene.reserve("run", "call", { cost_usd: 0.5 }), /needs an id of its own/);
    },
  },
  {
    name: "whoever is called cannot report fewer steps than were reserved, nor a total below its parts",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 2, llm_tokens: 100 }));
      await scene.reserve("run", "a", { steps: 1, llm_input_tokens: 30, llm_output_tokens: 30 });
      await scene.expectUsed("run", {}, { steps: 1, llm_input_tokens: 30, llm_output_tokens: 30, llm_tokens: 60 });
      await scene.commit("a", { steps: 0, llm_input_tokens: 20, llm_output_tokens: 25 });
      await scene.expectUsed("run", { steps: 1, llm_input_tokens: 20, llm_output_tokens: 25, llm_tokens: 45 });
    },
  },
  {
    name: "a holder that comes back after its reservation expired pays for what it used, else for what it reserved",
    async run(scene) {
      const expires = scene.clock.now().instant + 10;
      await scene.open("run", scene.limits({ cost_usd: 10, steps: 10 }));
      await scene.reserve("run", "tool", { cost_usd: 1, steps: 1 }, { expires });
      await scene.reserve("run", "model", { steps: 1 }, { kind: "model", expires });
      scene.clock.advance(10);
      await scene.store.apply([{ op: "expire" }]);
      await scene.expectUsed("run", { steps: 1 });
      const estimate = scene.amounts({ llm_input_tokens: 3, llm_output_tokens: 4 });
      await scene.store.apply([
        { op: "commit", call: "tool", used: {} },
        { op: "commit", call: "model", used: {}, estimate },
      ]);
      const tokens = { llm_input_tokens: 3, llm_output_tokens: 4, llm_tokens: 7 };
      await scene.expectUsed("run", { cost_usd: 1, steps: 2, ...tokens });
    },
  },
  {
    name: "a report delivered again changes nothing, and a correction says what it corrects",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 10, llm_tokens: 1000 }));
      await scene.reserve("run", "call", { cost_usd: 1, llm_tokens: 300 }, { kind: "model" });
      for (let delivery = 0; delivery < 3; delivery++) await scene.commit("call", { llm_tokens: 40 });
      await scene.commit("call", { cost_usd: 0.5, llm_tokens: 0 });
      await scene.commit("call", { cost_usd: 0 });
      await scene.expectUsed("run", { cost_usd: 0.5, llm_tokens: 40 });
      const told = (await scene.links("run")).filter(({ event }) => event === "Consumption");
      assert.deepEqual(
        told.map(({ data }) => [data.call_id, data.corrects ?? null, data.estimated]),
        [
          ["call", null, true],
          ["call", told[0]?.id, false],
        ],
      );
    },
  },
  {
    name: "a late report of parts is a late report of their total, however it comes",
    async run(scene) {
      await scene.open("run", scene.limits({ llm_tokens: 1000 }));
      const asked = { llm_tokens: 100 };
      const late = async (call: string, ...reports: Record<string, number>[]) => {
        await scene.reserve("run", call, asked, { kind: "model" });
        for (const report of reports) await scene.commit(call, report);
        const last = await scene.commit(call, {});
        return [last.charged.llm_tokens, last.estimated];
      };
      assert.deepEqual(await late("a", {}, { llm_input_tokens: 80, llm_output_tokens: 20 }), [100, false]);
      assert.deepEqual(await late("b", { llm_input_tokens: 80 }, { llm_input_tokens: 80, llm_output_tokens: 50 }), [
        130,
        false,
      ]);
      assert.deepEqual(await late("c", { llm_tokens: 40 }, { llm_input_tokens: 35, llm_output_tokens: 20 }), [
        55,
        false,
      ]);
      assert.deepEqual(await late("d", { llm_input_tokens: 10 }, { llm_output_tokens: 5 }), [15, false]);
      const used = scene.amounts({ llm_input_tokens: 60, llm_output_tokens: 60 });
      await scene.store.apply([{ op: "charge", budget: "run", call: "e", used }]);
      assert.equal((await scene.budget("run")).used.llm_tokens, 100 + 130 + 55 + 15 + 120);
    },
  },
  {
    name: "what is held for a child is of no use once the exhaustion of its ancestor is on record",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 10 }));
      const half = { kind: "fraction", of: 0.5 } as const;
      await scene.open("first", half, { parent: "run" });
      await scene.open("second", { kind: "fraction", of: 1 }, { parent: "run" });
      await scene.reserve("first", "a", { cost_usd: 5 });
      await scene.commit("a", { cost_usd: 9 });
      await scene.spend("second", "b", { cost_usd: 2 });
      assert.equal((await scene.reserve("second", "c", { cost_usd: 3 })).decision.kind, "stopped");
      await scene.expectUsed("run", { cost_usd: 11 }, { cost_usd: 3 });
    },
  },
  {
    name: "a paused budget takes no calls, and pausing is on record",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 5 }));
      await scene.open("child", scene.limits({}), { parent: "run" });
      await scene.store.apply([{ op: "pause", budget: "run" }]);
      await assert.rejects(scene.reserve("run", "a", { steps: 1 }), /is paused/);
      await assert.rejects(scene.reserve("child", "a", { steps: 1 }), /budget run is paused/);
      await scene.store.apply([{ op: "resume", budget: "run" }]);
      await scene.spend("run", "a", { steps: 1 });
      const types = (await scene.links("run")).map(({ action_type }) => action_type);
      assert.deepEqual(types.slice(2, 4), ["ClockPaused", "ClockResumed"]);
    },
  },
  {
    name: "what a caller does to his own objects later does not concern the books",
    async run(scene) {
      const limits: Record<string, never> = { ...scene.amounts({ steps: 2 }) } as never;
      const asked: Record<string, never> = { ...scene.amounts({ steps: 1 }) } as never;
      await scene.open("run", { kind: "limits", limits });
      await scene.store.apply([{ op: "reserve", budget: "run", call: "a", kind: "tool", asked }]);
      Object.assign(limits, { steps: 1000 });
      Object.assign(asked, { steps: 50 });
      await scene.commit("a", { steps: 1 });
      await scene.expectUsed("run", { steps: 1 });
      assert.equal((await scene.budget("run")).limits.steps, 2);
    },
  },
  {
    name: "names that are not ids are refused inside, where they would limit nothing",
    async run(scene) {
      const limits = { "cost-usd": 1 };
      const opening = { id: "run", scope: "run", grant: { kind: "limits", limits, clamp: true } };
      const open = { op: "open", parent: null, opening } as unknown as Operation;
      await assert.rejects(scene.store.apply([open]), /opening\.grant\.limits\.cost-usd is another name of cost_usd/);
    },
  },
  {
    name: "a charge is no second name for another call",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 5 }));
      await scene.reserve("run", "call", { steps: 1 });
      const charge = (steps: number): Operation => ({
        op: "charge",
        budget: "run",
        call: "call",
        used: scene.amounts({ steps }),
      });
      await assert.rejects(scene.store.apply([charge(1)]), /made before/);
      await scene.store.apply([{ ...charge(2), call: "direct" } as Operation]);
      await assert.rejects(scene.store.apply([{ ...charge(3), call: "direct" } as Operation]), /made before/);
    },
  },
  {
    name: "a charge is not settled as if it had been reserved, which would give it back",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 5 }));
      const used = scene.amounts({ steps: 3 });
      await scene.store.apply([{ op: "charge", budget: "run", call: "direct", used }]);
      await assert.rejects(scene.commit("direct", { steps: 0, cost_usd: 0 }), /made before/);
      await assert.rejects(scene.store.apply([{ op: "release", call: "direct" }]), /made before/);
      await scene.expectUsed("run", { steps: 3 });
    },
  },
  {
    name: "names that one store would cut off and another would not take are refused by all of them, and harm nobody else",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 5 }));
      const asked = scene.amounts({ steps: 1 });
      const reserve = { op: "reserve", budget: "run", call: "a", kind: "tool", asked } as const;
      const journal = { op: "journal", run: "r", key: "k", entry: {} } as const;
      const document = { op: "put", kind: "run", id: "r", status: "Running", body: {}, version: 0 };
      const odd = [
        { ...reserve, call: "a\0b" },
        { ...reserve, call: "\ud800" },
        { ...reserve, call: "x".repeat(9000) },
        { ...reserve, budget: undefined },
        { ...journal, run: "a\nb" },
        { op: "open", parent: null },
        document,
      ] as unknown as readonly Operation[];
      const [good, ...refused] = await Promise.allSettled([reserve, ...odd].map((each) => scene.store.apply([each])));
      assert.equal(good?.status, "fulfilled");
      for (const each of refused) assert.equal(each.status === "rejected" && each.reason.name, "InputError");
    },
  },
  {
    name: "what is refused to a child or an extension is on record too",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 1 }));
      await scene.open("child", scene.limits({ steps: 1 }), { parent: "run" });
      assert.equal(await scene.extend("child", { steps: 5 }), "no_room");
      await scene.spend("run", "a", { steps: 1 });
      await scene.open("late", scene.limits({ steps: 1 }), { parent: "run" });
      const types = (await scene.links("run")).map(({ action_type }) => action_type);
      assert.ok(types.includes("ExtensionRefused") && types.includes("OpenRefused"));
    },
  },
  {
    name: "holds in flight do not clamp a run for good, and a wrap-up reserve sets something aside",
    async run(scene) {
      await scene.open("session", scene.limits({ steps: 10 }), { scope: "shared" });
      await scene.reserve("session", "a", { steps: 10 });
      const limits = scene.amounts({ steps: 5 });
      await scene.open("run", { kind: "limits", limits, clamp: true }, { parent: "session" });
      assert.equal((await scene.budget("run")).limits.steps, 5);
      await assert.rejects(
        scene.open("final", { kind: "wrap_up", amounts: {} }, { parent: "run" }),
        /names no dimension/,
      );
    },
  },
  {
    name: "a deadline that passes while a call is made is on record when it is settled",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 5 }), { deadline: scene.clock.now().instant + 50 });
      await scene.reserve("run", "a", { steps: 1 });
      scene.clock.advance(60);
      const { notices } = await scene.commit("a", { steps: 1 });
      assert.deepEqual(
        notices.map(({ kind, dimension }) => [kind, dimension]),
        [["Exhausted", "deadline"]],
      );
    },
  },
];
