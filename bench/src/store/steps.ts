import type { Operation, Store } from "bursar";

type Amounts = Extract<Operation, { op: "reserve" }>["asked"];

const amounts = (values: Record<string, number>) => values as Amounts;

/** Eight limited dimensions, far from their limits. */
const MUCH = 9_000_000_000_000_000;
const LIMITS = amounts({
  steps: MUCH,
  llm_tokens: MUCH,
  llm_input_tokens: MUCH,
  llm_output_tokens: MUCH,
  cost_usd: MUCH,
  network_egress_bytes: MUCH,
  storage_write_bytes: MUCH,
  fuel: MUCH,
});
const ASKED: Amounts = amounts({
  steps: 1,
  llm_tokens: 2000,
  llm_input_tokens: 1000,
  llm_output_tokens: 1000,
  cost_usd: 20_000_000,
});
const USED = amounts({ llm_input_tokens: 900, llm_output_tokens: 120, cost_usd: 4_000_000 });
const RESULT = "x".repeat(100);
const EXPIRES_MS = 15 * 60_000;

function openBudget(id: string, parent: string | null, chain?: string): Operation {
  const opening = { id, scope: "run", grant: { kind: "limits", limits: LIMITS } } as const;
  return chain === undefined ? { op: "open", parent, opening } : { op: "open", parent, opening, chain };
}

/** Runs in one store, each a path of four budgets (tenant, session, run, child) with a chain of its own. */
export class Runs {
  private readonly store: Store;
  private readonly prefix: string;
  private readonly last: (string | null)[];
  private calls = 0;

  static async open(store: Store, prefix: string, count: number): Promise<Runs> {
    const session = `${prefix}session`;
    await store.apply([openBudget(`${prefix}tenant`, null), openBudget(session, `${prefix}tenant`)]);
    for (let run = 0; run < count; run++) {
      const id = `${prefix}run-${run}`;
      await store.apply([openBudget(id, session, id), openBudget(`${id}/child`, id)]);
    }
    const runs = new Runs(store, prefix, count);
    for (let run = 0; run < count; run++) await runs.step(run);
    return runs;
  }

  private constructor(store: Store, prefix: string, count: number) {
    this.store = store;
    this.prefix = prefix;
    this.last = Array.from({ length: count }, () => null);
  }

  /** A full step: what the last call used and gave back is recorded, and the next one is reserved, in one transaction. */
  step(run: number): Promise<unknown> {
    const id = `${this.prefix}run-${run}`;
    const call = `${id}/${this.calls++}`;
    const last = this.last[run] ?? null;
    this.last[run] = call;
    const reserve = reserveIn(`${id}/child`, call);
    if (last === null) return this.store.apply([reserve]);
    return this.store.apply([
      { op: "commit", call: last, used: USED },
      { op: "journal", run: id, key: last, entry: { result: RESULT } },
      reserve,
    ]);
  }

  /** One operation alone, in a budget that all callers share. */
  reserve(): Promise<unknown> {
    return this.store.apply([reserveIn(`${this.prefix}session`, `${this.prefix}hot-${this.calls++}`)]);
  }

  /** A whole call in that budget. */
  async call(store: Store = this.store): Promise<void> {
    const call = `${this.prefix}call-${this.calls++}`;
    await store.apply([reserveIn(`${this.prefix}session`, call)]);
    await store.apply([{ op: "commit", call, used: ASKED }]);
  }
}

function reserveIn(budget: string, call: string): Extract<Operation, { op: "reserve" }> {
  return { op: "reserve", budget, call, kind: "model", asked: ASKED, expires: Date.now() + EXPIRES_MS };
}

/** How many times a second callers get something done, all at once, for a while. */
export async function rate(callers: number, ms: number, work: (caller: number) => Promise<unknown>): Promise<number> {
  let done = 0;
  const start = performance.now();
  const until = start + ms;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (; performance.now() < until; done++) await work(caller);
    }),
  );
  return (done * 1000) / (performance.now() - start);
}
