import { type Amounts, readAmounts, type Store } from "bursar";

export const amounts = (given: Record<string, number>): Amounts => readAmounts(given);

const LIMITS = { steps: 1000, cost_usd: 10, llm_tokens: 100_000 };

/** What `fill` leaves behind, for those who look for it. */
export const SESSION = "session-1";
export const ENDED_RUN = "run-ended";
export const OPEN_RUN = "run-open";

/** A store with a little of everything: children of each kind, an extension, calls in every status, documents, a journal. */
export async function fill(store: Store): Promise<void> {
  const limits = (given: Record<string, number>) => ({ kind: "limits", limits: amounts(given) }) as const;
  await store.apply([
    { op: "open", parent: null, opening: { id: SESSION, scope: "shared", grant: limits(LIMITS) } },
    { op: "open", parent: SESSION, chain: ENDED_RUN, opening: { id: ENDED_RUN, scope: "run", grant: limits(LIMITS) } },
    {
      op: "open",
      parent: SESSION,
      chain: OPEN_RUN,
      opening: { id: OPEN_RUN, scope: "run", grant: { kind: "fraction", of: 0.5 } },
    },
    {
      op: "open",
      parent: OPEN_RUN,
      opening: { id: "final", scope: "run", grant: { kind: "wrap_up", amounts: amounts({ cost_usd: 0.5 }) } },
    },
    { op: "open", parent: OPEN_RUN, opening: { id: "part", scope: "run", grant: limits({ cost_usd: 1 }) } },
  ]);
  const asked = amounts({ steps: 1, cost_usd: 0.2, llm_tokens: 500, depth: 2 });
  for (const budget of [ENDED_RUN, OPEN_RUN, "final", "part"]) {
    await store.apply([
      { op: "reserve", budget, call: `${budget}/used`, kind: "model", asked },
      { op: "commit", call: `${budget}/used`, used: amounts({ cost_usd: 0.123456789, llm_tokens: 400, depth: 3 }) },
      { op: "reserve", budget, call: `${budget}/given back`, kind: "tool", asked },
      { op: "release", call: `${budget}/given back` },
      { op: "reserve", budget, call: `${budget}/dead`, kind: "model", asked, expires: 1 },
      { op: "expire" },
      { op: "charge", budget, call: `${budget}/charged`, used: amounts({ cost_usd: 0.01 }) },
    ]);
  }
  await store.apply([
    { op: "extend", budget: OPEN_RUN, additional: amounts({ cost_usd: 0.25 }), approved_by: "ada", reason: null },
    { op: "reserve", budget: OPEN_RUN, call: "in flight", kind: "model", asked, expires: 4e12 },
    { op: "reserve", budget: "final", call: "in the end", kind: "model", asked: amounts({ cost_usd: 0.1, steps: 1 }) },
    { op: "reserve", budget: "part", call: "in part", kind: "model", asked },
    { op: "end", budget: ENDED_RUN },
    { op: "put", kind: "run", id: ENDED_RUN, budget: ENDED_RUN, status: "Completed", body: { at: 1 }, version: 0 },
    { op: "put", kind: "run", id: OPEN_RUN, budget: OPEN_RUN, status: "Running", body: { ä: "€" }, version: 0 },
    { op: "put", kind: "approval", id: "a-1", budget: OPEN_RUN, status: "pending", body: {}, version: 0 },
    { op: "journal", run: ENDED_RUN, key: "1", entry: { saw: "this" } },
    { op: "journal", run: OPEN_RUN, key: "1", entry: { saw: "that" } },
    { op: "anchor" },
  ]);
  await store.apply([{ op: "record", budget: SESSION, action: { action_type: "Noted", data: { text: "a\nb" } } }]);
  await store.apply([{ op: "anchor" }]);
}
