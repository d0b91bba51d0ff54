import { expect, test } from "vitest";
import type { Operation } from "../../src/core/operation.js";
import { type Claim, putClaim } from "../../src/runs/claim.js";
import { Desk } from "../../src/runs/desk.js";
import { journalAnswer, journalAsk } from "../../src/runs/journal.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

const CLAIM: Claim = {
  run: "r",
  worker: "w",
  epoch: 1,
  expires: 60_000,
  spoke: 0,
  hold: null,
  computed: {},
  needs: null,
  version: 1,
};

test("when a list cannot be written, the others keep their order, and answers come before what was asked because of them", async () => {
  const clock = new FakeClock();
  await using store = new MemoryStore({ clock });
  const opening = { id: "r", scope: "run", grant: { kind: "limits", limits: { steps: 9 } } } as never;
  await store.apply([{ op: "open", parent: null, opening }]);
  await store.apply([{ op: "reserve", budget: "r", call: "c", kind: "tool", asked: {}, expires: 60_000 } as Operation]);
  await store.apply([putClaim({ ...CLAIM, version: 0 })]);
  const desk = new Desk(store, clock, CLAIM, 60_000);
  const ask = { number: 2, name: "now", args: {}, digest: "d", after: 1, instant: 0, epochs: [1] };
  const answer = (at: number) =>
    journalAnswer("r", 0, { at, number: at, answered: { kind: "value", value: at } } as never);
  const lists: readonly (readonly Operation[])[] = [
    [journalAsk("r", 0, ask, 1)],
    [answer(0)],
    [{ op: "commit", call: "c", used: {} }, answer(1)],
    [
      { op: "release", call: "nobody's" },
      { op: "commit", call: "nobody's", used: {} },
    ],
  ];
  const ends = await Promise.allSettled(lists.map((list) => desk.apply(list)));
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
  const keys: string[] = [];
  for await (const { key } of store.journal("r")) keys.push(key);
  expect(keys).toEqual(["answer 0", "answer 1", "ask 2 1"]);
});

test("a run that another worker has ended is lost to the one before, also where the store looks at its budget first", async () => {
  const clock = new FakeClock();
  await using memory = new MemoryStore({ clock });
  const opening = { id: "r", scope: "run", grant: { kind: "limits", limits: { steps: 9 } } } as never;
  await memory.apply([{ op: "open", parent: null, opening }, putClaim({ ...CLAIM, version: 0 })]);
  // One that knows of the claim what it has read before, and of the budget what is so by now.
  const store = new Proxy(memory, {
    get(target, name) {
      if (name === "apply")
        return ([claim, ...rest]: readonly Operation[]) => target.apply(rest.length > 0 ? rest : [claim as Operation]);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const desk = new Desk(store, clock, CLAIM, 60_000);
  await memory.apply([putClaim({ ...CLAIM, worker: "other", epoch: 2 }), { op: "end", budget: "r" }]);
  const reserve = { op: "reserve", budget: "r", call: "c", kind: "tool", asked: {}, expires: 60_000 } as Operation;
  await expect(desk.apply([reserve])).rejects.toMatchObject({ code: "claim_lost", how: "taken" });
  expect(desk.lost).toMatchObject({ code: "claim_lost" });
});
