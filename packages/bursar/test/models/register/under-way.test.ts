import { withBudget } from "bursar";
import { expect, test } from "vitest";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { UnderWay } from "../../../src/models/register/under-way.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";

const STOPS = { kind: "half", text: "one two three four", events: 3, ending: "hang" } as const;
const PRICES = { scripted: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };

/** Whether a promise is settled once everything that could settle it has had its turn. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const mark = () => {
    settled = true;
  };
  void promise.then(mark, mark);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

function asked(stream: boolean): RequestInit {
  const messages = [{ role: "user", content: "Hello." }];
  return { method: "POST", body: JSON.stringify({ model: "scripted", messages, stream, max_tokens: 50 }) };
}

test("what is under way is settled when the process ends, and nobody in it is told", async () => {
  await using model = await openScriptedModel({
    script: (request) => (request.stream ? STOPS : { kind: "hang" }),
  });
  const fetch = governedFetch({ prices: PRICES });
  const under_way = new UnderWay();
  const send = (stream: boolean) =>
    under_way.follow(null, (signal) => fetch(`${model.url}/chat/completions`, { ...asked(stream), signal }));
  await withBudget({ steps: 5 }, async (budget) => {
    const whole = send(false);
    const reader = ((await send(true)).body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const reading = (async () => {
      while (!(await reader.read()).done);
    })();
    await expect.poll(() => model.count).toBe(2);

    await under_way.end();

    const { used, held } = await budget.state();
    expect([used.steps, held.steps ?? 0]).toEqual([2, 0]);
    expect([await isSettled(whole), await isSettled(reading)]).toEqual([false, false]);
    expect(await isSettled(send(false))).toBe(false);
    expect(model.count).toBe(2);
    await expect.poll(() => model.aborted).toBe(2);
  });
});

test("a program breaks off its own calls as before, and is told", async () => {
  await using model = await openScriptedModel({ script: [{ kind: "hang" }] });
  const fetch = governedFetch({ prices: PRICES });
  const under_way = new UnderWay();
  const own = new AbortController();
  await withBudget({ steps: 5 }, async () => {
    const sent = under_way.follow(own.signal, (signal) =>
      fetch(`${model.url}/chat/completions`, { ...asked(false), signal }),
    );
    const failing = expect(sent).rejects.toThrow("enough");
    await expect.poll(() => model.count).toBe(1);
    own.abort(new Error("enough"));
    await failing;
    await under_way.end();
  });
});
