import { expect, test } from "vitest";
import { chatModel } from "../../../src/models/chat/chat.js";
import { savedUsd } from "../../../src/models/reuse/saved.js";
import { defineAgent } from "../../../src/runs/agent.js";
import { Dice } from "../../runs/simulation/dice.js";
import { Handle } from "../../runs/simulation/handle.js";
import { settle, Theatre } from "../../runs/stage.js";

const PRICES = { small: { input_usd_per_mtok: 1, output_usd_per_mtok: 4 } };
const COST_NANO = 2_200_000;

/** The same twice at once, and twice after that; and something else. */
const asker = defineAgent("asker", async (ctx) => {
  const ask = (word: string) => ctx.model<{ text: string }>({ prompt: `What is ${word}?`, max_tokens: 1000 });
  const answers = await Promise.all([ask("tea"), ask("tea")]);
  answers.push(await ask("tea"), await ask("ink"), await ask("tea"));
  return answers.map(({ text }) => text);
});

/** A provider inside of the process, which numbers its answers. */
function provider() {
  const texts: string[] = [];
  const send = async (_: unknown, init: RequestInit = {}) => {
    const { messages } = JSON.parse(String(init.body)) as { messages: { content: string }[] };
    await settle(2);
    texts.push(`${messages[0]?.content} ${texts.length}`);
    const choices = [{ message: { content: texts.at(-1) }, finish_reason: "stop" }];
    return Response.json({ choices, usage: { prompt_tokens: 200, completion_tokens: 500 } });
  };
  const model = () =>
    chatModel({
      url: "http://provider.example/v1",
      model: "small",
      prices: PRICES,
      fetch: send as typeof fetch,
      reuse: { in_flight: true, cache: true },
    });
  return { texts, model };
}

async function killed(at: number, when: "calm" | "before" | "after") {
  const theatre = new Theatre([asker]);
  const { texts, model } = provider();
  const handle = new Handle(theatre.store, theatre.clock, new Dice(at), when === "calm" ? {} : { dies: { at, when } });
  const { timer } = handle;
  const dying = theatre.process({ store: handle, timer, model: model(), claim_ms: 3000 });
  const start = { id: "r", limits: { cost_usd: 1 } };
  let over = false;
  void dying.run("asker", null, start).finally(() => {
    over = true;
  });
  for (let turn = 0; turn < 2000 && !over && !handle.dead; turn++) {
    await settle(5);
    theatre.clock.advance(100);
  }
  theatre.clock.advance(60_000);
  await using healthy = theatre.process({ model: model(), claim_ms: 3000 });
  const result = await theatre.until(healthy.run("asker", null, start));
  const saved = (await theatre.links("r")).filter(({ action_type }) => action_type === "Saved");
  return {
    result,
    texts,
    writes: handle.writes,
    saved_usd: await savedUsd(theatre.store, "r"),
    calls: saved.map(({ data }) => data.call_id),
    budget: await theatre.store.budget("r"),
  };
}

test("a process that dies at any write of a run that reuses is followed by another; nothing is unpaid, or saved twice", async () => {
  const calm = await killed(0, "calm");
  expect(calm.texts).toHaveLength(2);
  expect(calm.budget?.used).toMatchObject({ cost_usd: 2 * COST_NANO, steps: 5 });
  expect(calm.saved_usd).toBe((3 * COST_NANO) / 1e9);
  expect(calm.writes).toBeGreaterThan(5);
  for (let at = 0; at < calm.writes; at++) {
    for (const when of ["before", "after"] as const) {
      const { result, texts, calls, budget } = await killed(at, when);
      const where = `killed ${when} write ${at}`;
      expect({ where, status: result.status }).toEqual({ where, status: "completed" });
      const said = result.status === "completed" ? (result.result as readonly string[]) : [];
      expect({ where, known: said.every((text) => texts.includes(text)) }).toEqual({ where, known: true });
      expect({ where, asked: said.map((text) => text.split(" ")[2]) }).toEqual({
        where,
        asked: ["tea?", "tea?", "tea?", "ink?", "tea?"],
      });
      // What the provider was asked for is paid for; what nobody heard the end of, in full.
      expect({ where, paid: (budget?.used.cost_usd ?? 0) >= texts.length * COST_NANO }).toEqual({ where, paid: true });
      expect({ where, calls: new Set(calls).size }).toEqual({ where, calls: calls.length });
      const held = Object.values(budget?.reserved ?? {}).filter((amount) => amount !== 0);
      expect({ where, held }).toEqual({ where, held: [] });
    }
  }
});
