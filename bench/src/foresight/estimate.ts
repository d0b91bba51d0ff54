import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bursar, type Document, defineAgent, defineTool, openBursar, type Store } from "bursar";
import { SqliteStore } from "bursar/sqlite";
import { measureAsync } from "../measure.js";
import type { Report } from "../report.js";

const PAST = 100_000;
const QUICK_PAST = 5000;
const AT_ONCE = 1000;
const MOST_MS = 5;
const MS = 1e6;

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  quote: { cost_usd: 0.001, network_egress_bytes: 2000 },
  run: () => "seen",
});

/** Some are run often, some seldom, as in life. */
const SHARES: Readonly<Record<string, number>> = { triage: 0.6, summary: 0.25, report: 0.1, review: 0.05 };

const PROGRAMS = Object.keys(SHARES).map((name) =>
  defineAgent(name, async (ctx) => {
    await ctx.tool("look", {});
    await ctx.tool("look", {});
  }),
);

/** What an estimate takes that goes by a long past, in a store on disk. */
export async function estimate(quick: boolean): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "bursar-bench-"));
  const past = quick ? QUICK_PAST : PAST;
  try {
    await using store = await SqliteStore.open({ path: join(folder, "past.db") });
    await using bursar = openBursar({ store, programs: PROGRAMS, tools: [look] });
    await fill(store, bursar, past);
    const names = Object.keys(SHARES);
    const first = names.map((name) => ({ name: `the first look at "${name}"`, look: () => looked(store, name) }));
    const next = names.map((name) => ({ name: `the next look at "${name}"`, look: () => told(bursar, name, 200) }));
    const variants = [...first, ...next].map(({ name, look }) => ({
      name,
      operations: 5,
      run: async (count: number) => {
        for (let turn = 0; turn < count; turn++) await look();
      },
    }));
    const rows = await measureAsync(variants, quick ? 10 : 100, () => {});
    const ms = Math.max(...rows.map(({ medianNs }) => medianNs)) / MS;
    const measured = `${ms.toFixed(2)} ms for the slowest look, at most ${MOST_MS}`;
    return {
      tables: [{ title: `an estimate from history, ${past} past runs on SQLite`, rows }],
      bars: [{ name: `an estimate from ${past} past runs`, measured, met: ms <= MOST_MS }],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As by a process that has just begun. */
async function looked(store: Store, program: string): Promise<void> {
  await using bursar = openBursar({ store, programs: PROGRAMS, tools: [look] });
  await told(bursar, program, 200);
}

async function told(bursar: Bursar, program: string, bytes: number): Promise<void> {
  const { estimate: found } = await bursar.estimate(program, { text: "x".repeat(bytes) });
  // Otherwise nothing would have been measured.
  if (found?.dimensions.cost_usd?.source !== "history") throw new Error(`${program} has no past`);
}

/** One run of each program shows how runs are kept; the others are written as it was, with other figures. */
async function fill(store: Store, bursar: Bursar, count: number): Promise<void> {
  const kept = new Map<string, Document>();
  for (const { name } of PROGRAMS) {
    await bursar.run(name, { text: "a first run" }, { id: name });
    const document = await store.document("history", name);
    if (document === null) throw new Error(`nothing was kept of ${name}`);
    kept.set(name, document);
  }
  const names = PROGRAMS.flatMap(({ name }) => Array.from({ length: 20 * (SHARES[name] ?? 0) }, () => name));
  for (let from = 0; from < count; from += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => from + at);
    await store.apply(
      numbers.map((number) => {
        const document = kept.get(names[number % names.length] ?? "triage") as Document;
        const { used } = document.body as { used: Record<string, number> };
        // Figures of some spread, the same in every run of the bench.
        const times = 1 + ((number * 7919) % 1000) / 500;
        const more = Object.entries(used).map(([id, value]) => [id, Math.round(value * times)]);
        const body = { ...document.body, input_bytes: 20 + Math.round(100 * times), used: Object.fromEntries(more) };
        return { op: "put" as const, ...document, id: `${document.id}-${number}`, body, version: 0 };
      }),
    );
  }
}
