import assert from "node:assert/strict";
import type { Case } from "./scene.js";

/** Calls that can do with less are held to what is left, and calls that break off are charged as they were seen. */
export const CUTTING: readonly Case[] = [
  {
    name: "a call that can do with less is cut to what is left, and what it needs is never cut",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 1, llm_output_tokens: 100, llm_tokens: 150 }));
      const least = scene.amounts({ llm_output_tokens: 10, cost_usd: 0.2 });
      const asked = { llm_input_tokens: 70, llm_output_tokens: 500, cost_usd: 0.5 };
      const first = await scene.reserve("run", "first", asked, { kind: "model", least });
      assert.equal(first.decision.kind, "admitted");
      assert.deepEqual(
        first.granted,
        scene.amounts({ llm_input_tokens: 70, llm_output_tokens: 80, llm_tokens: 150, cost_usd: 0.5 }),
      );
      await scene.commit("first", { llm_input_tokens: 70, llm_output_tokens: 5, cost_usd: 0.9 });
      const second = await scene.reserve("run", "second", { ...asked, llm_input_tokens: 60 }, { kind: "model", least });
      assert.equal(second.decision.kind, "stopped", "0.2 is needed, and 0.1 is left");
    },
  },
  {
    name: "a call that can do with less waits for what is held rather than being cut to the rest",
    async run(scene) {
      await scene.open("all", scene.limits({ llm_output_tokens: 100 }), { scope: "shared" });
      await scene.open("run", scene.limits({}), { parent: "all" });
      const least = scene.amounts({ llm_output_tokens: 1 });
      await scene.reserve("run", "first", { llm_output_tokens: 90 }, { kind: "model", least });
      const waiting = await scene.reserve("run", "second", { llm_output_tokens: 80 }, { kind: "model", least });
      assert.equal(waiting.decision.kind, "busy");
      await scene.commit("first", { llm_output_tokens: 60 });
      const second = await scene.reserve("run", "second", { llm_output_tokens: 80 }, { kind: "model", least });
      assert.deepEqual(second.granted, scene.amounts({ llm_output_tokens: 40, llm_tokens: 40 }));
      const again = await scene.reserve("run", "second", { llm_output_tokens: 80 }, { kind: "model", least });
      assert.equal(again.repeated, true);
      assert.deepEqual(again.granted, second.granted);
    },
  },
  {
    name: "a call that broke off is charged as it was seen and marked, and a late report corrects it",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 1, llm_tokens: 1000 }));
      const asked = { llm_input_tokens: 100, llm_output_tokens: 400, cost_usd: 0.5 };
      await scene.reserve("run", "call", asked, { kind: "model" });
      const seen = scene.amounts({ llm_output_tokens: 30, llm_input_tokens: 100, cost_usd: 0.04 });
      const [settled] = await scene.store.apply([{ op: "commit", call: "call", used: {}, seen }]);
      assert.equal(settled.estimated, true);
      await scene.expectUsed("run", { ...asked, llm_output_tokens: 30, llm_tokens: 130, cost_usd: 0.04 });
      assert.equal((await scene.commit("call", { llm_input_tokens: 90, llm_output_tokens: 20 })).estimated, true);
      await scene.expectUsed("run", { llm_input_tokens: 90, llm_output_tokens: 20, llm_tokens: 110, cost_usd: 0.04 });
    },
  },
];
