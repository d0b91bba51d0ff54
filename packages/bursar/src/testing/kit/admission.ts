import assert from "node:assert/strict";
import type { Case } from "./scene.js";

/** Never over: what is admitted, what is refused and why, under any concurrency. */
export const ADMISSION: readonly Case[] = [
  {
    name: "landing on the limit is legal, the next call is refused",
    async run(scene) {
      await scene.open("run", scene.limits({ cost_usd: 1 }));
      for (let call = 0; call < 10; call++) await scene.spend("run", `call-${call}`, { cost_usd: 0.1 });
      await scene.expectUsed("run", { cost_usd: 1 });
      const { decision } = await scene.reserve("run", "one-more", { cost_usd: 0.000000001 });
      assert.equal(decision.kind, "stopped");
      assert.equal(decision.findings[0]?.refusal, "exhausted");
      assert.equal((await scene.reserve("run", "free", {})).decision.kind, "stopped", "exhaustion is sticky");
    },
  },
  {
    name: "a thousand concurrent callers, five dollars, a tenth each: exactly fifty are admitted",
    async run(scene) {
      await scene.open("tenant", scene.limits({ cost_usd: 100 }), { scope: "shared" });
      await scene.open("run", scene.limits({ cost_usd: 5 }), { parent: "tenant" });
      const calls = Array.from({ length: 1000 }, (_, index) =>
        scene.reserve("run", `call-${index}`, { cost_usd: 0.1 }),
      );
      const kinds = (await Promise.all(calls)).map(({ decision }) => decision.kind);
      assert.equal(kinds.filter((kind) => kind === "admitted").length, 50);
      assert.equal(kinds.filter((kind) => kind === "busy").length, 950, "holds in flight fail nobody");
      await scene.expectUsed("run", {}, { cost_usd: 5 });
      await scene.expectUsed("tenant", {}, { cost_usd: 5 });
      assert.deepEqual(await scene.links("run"), [], "the run writes into the chain of its tenant");
      assert.deepEqual(await scene.events("tenant"), ["Allocation", "Allocation"]);
    },
  },
  {
    name: "busy, too large and exhausted are never confused",
    async run(scene) {
      await scene.open("session", scene.limits({ llm_tokens: 100 }), { scope: "shared" });
      await scene.open("run", scene.limits({ steps: 100 }), { parent: "session" });
      await scene.reserve("run", "in-flight", { llm_tokens: 60 });
      assert.equal((await scene.reserve("run", "waits", { llm_tokens: 50 })).decision.kind, "busy");
      assert.equal((await scene.reserve("run", "never", { llm_tokens: 101 })).decision.kind, "refused");
      assert.equal((await scene.reserve("run", "small", { llm_tokens: 40 })).decision.kind, "admitted");
      await scene.commit("in-flight", { llm_tokens: 60 });
      await scene.commit("small", { llm_tokens: 40 });
      assert.equal((await scene.reserve("run", "late", { llm_tokens: 1 })).decision.kind, "paused");
    },
  },
  {
    name: "a tentative call that does not fit leaves no trace, and one that fits is admitted",
    async run(scene) {
      await scene.open("run", scene.limits({ llm_tokens: 100, steps: 10 }));
      await scene.spend("run", "first", { llm_tokens: 90 });
      const before = [await scene.store.budget("run"), await scene.events("run")];
      const { decision, links } = await scene.reserve("run", "large", { llm_tokens: 20 }, { tentative: true });
      assert.deepEqual([decision.kind, links], ["paused", []]);
      assert.deepEqual([await scene.store.budget("run"), await scene.events("run")], before);
      assert.equal(
        (await scene.reserve("run", "large", { llm_tokens: 10 }, { tentative: true })).decision.kind,
        "admitted",
      );
      await scene.commit("large", { llm_tokens: 10 });
      await scene.expectUsed("run", { llm_tokens: 100 });
    },
  },
  {
    name: "too large for the run's own budget sets off its policy, and sticks",
    async run(scene) {
      await scene.open("run", scene.limits({ llm_tokens: 100, steps: 10 }));
      await scene.spend("run", "first", { llm_tokens: 90 });
      assert.equal((await scene.reserve("run", "large", { llm_tokens: 20 })).decision.kind, "paused");
      assert.equal((await scene.reserve("run", "small", { llm_tokens: 1 })).decision.kind, "paused");
      assert.equal(await scene.extend("run", { llm_tokens: 50 }), "extended");
      assert.equal((await scene.reserve("run", "again", { llm_tokens: 20 })).decision.kind, "admitted");
    },
  },
  {
    name: "all of the path or none of it",
    async run(scene) {
      await scene.open("tenant", scene.limits({ cost_usd: 1 }), { scope: "shared" });
      await scene.open("run", scene.limits({ cost_usd: 5, steps: 5 }), { parent: "tenant" });
      assert.equal((await scene.reserve("run", "large", { cost_usd: 2, steps: 1 })).decision.kind, "refused");
      await scene.expectUsed("run", {});
      await scene.expectUsed("tenant", {});
    },
  },
  {
    name: "a limit of 0 refuses only calls that ask for the dimension",
    async run(scene) {
      await scene.open("run", scene.limits({ network_egress_bytes: 0, steps: 5 }));
      assert.equal((await scene.reserve("run", "offline", { steps: 1 })).decision.kind, "admitted");
      assert.equal((await scene.reserve("run", "online", { network_egress_bytes: 1 })).decision.kind, "stopped");
    },
  },
  {
    name: "every dimension is evaluated, and the most severe finding is reported first",
    async run(scene) {
      await scene.open("run", scene.limits({ steps: 1, llm_tokens: 10, cost_usd: 1 }), {
        policies: { steps: "soft_warn" },
      });
      await scene.spend("run", "all", { steps: 1, llm_tokens: 10, cost_usd: 1 });
      const { decision } = await scene.reserve("run", "next", { steps: 1, llm_tokens: 1, cost_usd: 1 });
      assert.equal(decision.kind, "stopped");
      assert.deepEqual(
        decision.findings.map(({ dimension }) => dimension),
        ["cost_usd", "llm_tokens", "steps"],
      );
    },
  },
  {
    name: "a dimension that only warns is recorded once and refuses nobody, unless an ancestor does",
    async run(scene) {
      await scene.open("session", scene.limits({ steps: 4 }), { scope: "shared" });
      await scene.open("run", scene.limits({ steps: 2 }), {
        parent: "session",
        chain: "run",
        policies: { steps: "soft_warn" },
      });
      for (const call of ["a", "b", "c", "d"]) await scene.spend("run", call, { steps: 1 });
      assert.equal((await scene.reserve("run", "e", { steps: 1 })).decision.kind, "stopped");
      const told = (await scene.links("run")).filter(({ event }) => event === "Exhausted");
      assert.deepEqual(
        told.map(({ data }) => data.budget),
        ["run", "session"],
      );
    },
  },
  {
    name: "a dimension of the caller's own works like a built-in one, and a peak is not used up",
    async run(scene) {
      await scene.open("run", scene.limits({ emails_sent: 2, open_tabs: 3 }));
      await scene.spend("run", "a", { emails_sent: 1, open_tabs: 3 });
      await scene.spend("run", "b", { emails_sent: 1, open_tabs: 2 });
      await scene.expectUsed("run", { emails_sent: 2, open_tabs: 3 });
      assert.equal(
        (await scene.reserve("run", "c", { emails_sent: 1 })).decision.findings[0]?.dimension,
        "emails_sent",
      );
      await scene.extend("run", { emails_sent: 1 });
      assert.equal((await scene.reserve("run", "d", { open_tabs: 4 })).decision.kind, "paused");
    },
  },
  {
    name: "amounts near 2^53 are exact, and a total beyond it is refused without a trace",
    async run(scene) {
      const most = 9_000_000_000_000_000;
      await scene.open("run", scene.limits({ llm_tokens: most }));
      await scene.spend("run", "a", { llm_tokens: most - 1, fuel: most });
      assert.equal((await scene.reserve("run", "b", { llm_tokens: 2 })).decision.kind, "paused");
      await scene.extend("run", { llm_tokens: 0 }).catch(() => {});
      await assert.rejects(
        scene.store.apply([{ op: "charge", budget: "run", call: "c", used: scene.amounts({ fuel: most }) }]),
      );
      await scene.expectUsed("run", { llm_tokens: most - 1, fuel: most });
    },
  },
];
