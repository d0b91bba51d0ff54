import { PostgresStore } from "bursar/postgres";
import postgres from "postgres";
import { afterAll, describe, expect, test } from "vitest";
import { startPostgres } from "../../../../test/postgres/server.mjs";
import { type Child, heard, startChild } from "./child.js";
import { clockAhead, History } from "./history.js";
import { type Fate, startProxy } from "./proxy.js";
import { patience, randomOf, report, rounds, SEED, withSeed } from "./seeds.js";

const server = await startPostgres();
const sql = postgres(server.url, { max: 1, onnotice: () => {}, backoff: () => 0.1 });
let schemas = 0;
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await server[Symbol.asyncDispose]();
});

const POINTS = ["decided", "written", "committed", "answered"] as const;
/** So many schemas are in use by one child. */
const STORES = 2;
const CALLERS = 6;
/** Longer than any of our servers is away. */
const PATIENT = { patience_ms: 60_000 };

async function begun(through = server.url): Promise<History> {
  const schema = `crash_${schemas++}`;
  const open = (ahead_ms: number) => PostgresStore.open({ url: server.url, schema, clock: clockAhead(ahead_ms) });
  const query = (text: string) =>
    sql.begin((own) => [own.unsafe(`SET LOCAL search_path = ${schema}`), own.unsafe(text)]);
  const rows = async (text: string) => (await query(text))[1] as unknown as Record<string, unknown>[];
  const history = new History({ url: through, schema, ...PATIENT }, open, rows);
  await history.begin();
  return history;
}

/** What a process that was killed had sent is still carried out, and must not happen between two looks at the tables. */
async function settled(): Promise<void> {
  const busy = () => sql`SELECT 1 FROM pg_stat_activity WHERE application_name = 'bursar' AND state <> 'idle'`;
  while ((await busy()).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

function seedsFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => SEED + first + at);
}

async function checkAll(all: readonly History[]): Promise<void> {
  for (const history of all) await history.check();
  for (const history of all) await history.end();
  const acknowledged = all.reduce((sum, { witness }) => sum + witness.acknowledged.length, 0);
  expect(acknowledged).toBeGreaterThan(0);
  report({ "lists acknowledged": acknowledged });
}

describe("a PostgreSQL store whose process is killed", () => {
  test("at every point and at any moment", { timeout: patience() }, async () => {
    const all = await Promise.all(Array.from({ length: STORES }, () => begun()));
    for (const seed of seedsFrom(50_000, rounds(10))) {
      const random = randomOf(seed);
      const point = [...POINTS, null][seed % (POINTS.length + 1)] ?? null;
      const death = point === null ? { working_ms: random() * 300 } : {};
      const trap = point === null ? {} : { trap: `kill:${point}:${1 + Math.floor(random() * 80)}` };
      await withSeed(seed, async () => {
        const stores = all.map((history, place) => history.errand(seed * STORES + place));
        const ended = await startChild("load.mjs", { stores, callers: CALLERS, lists: 100_000, death }, trap).over;
        expect(ended.signal, `it should have been killed: ${ended.stderr}`).toBe("SIGKILL");
        for (const [place, history] of all.entries()) history.witness.hear(ended.lines, place);
        await settled();
        await all[seed % STORES]?.check();
        report({ kills: 1, "PostgreSQL stores crashed": STORES });
      });
    }
    await withSeed(SEED, () => checkAll(all));
  });
});

/** Two processes use the same tables while something happens to the server; neither of them may notice more than a delay. */
async function underLoad(
  seed: number,
  lists: number,
  disturb: (busy: () => boolean) => Promise<void>,
  through = server.url,
): Promise<void> {
  const history = await begun(through);
  await withSeed(seed, async () => {
    const start = (at: number) =>
      startChild("load.mjs", { stores: [history.errand(seed + at)], callers: CALLERS, lists });
    const children: readonly Child[] = [0, 1].map(start);
    let left = children.length;
    for (const { over } of children) void over.then(() => left--);
    // Opening a store is not under load yet: a server that is away then is reported at once.
    for (const child of children) await heard(child, ({ opened }) => opened === true);
    // A child that hangs is ended in time to see what it was waiting for.
    const late = setTimeout(() => {
      for (const child of children) child.kill();
    }, patience(90_000));
    await disturb(() => left > 0);
    for (const { over } of children) {
      const { code, lines, stderr } = await over;
      history.witness.hear(lines, 0);
      const waiting = history.witness.again().map((list) => list.map(({ op }) => op).join());
      expect(code, `${stderr} waiting for: ${waiting.join("; ")}; last: ${JSON.stringify(lines.at(-1))}`).toBe(0);
    }
    clearTimeout(late);
    await checkAll([history]);
  });
}

describe("a PostgreSQL store under load", () => {
  test("loses nothing when the server is stopped at once and started again", { timeout: patience() }, async () => {
    const random = randomOf(SEED);
    await underLoad(SEED + 60_000, rounds(80), async (busy) => {
      for (let crashes = 0; busy() && crashes < rounds(3); crashes++) {
        await new Promise((resolve) => setTimeout(resolve, 500 + random() * 1_000));
        await server.crash();
        await server.start();
        report({ "server crashes": 1 });
      }
    });
  });

  test("does everything once when connections are cut", { timeout: patience() }, async () => {
    const random = randomOf(SEED);
    await underLoad(SEED + 70_000, rounds(40), async (busy) => {
      while (busy()) {
        await new Promise((resolve) => setTimeout(resolve, 20 + random() * 100));
        const cut = await sql`
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'bursar' AND pid <> pg_backend_pid() AND random() < 0.5`;
        report({ "connections cut": cut.length });
      }
    });
  });

  test("does everything once when requests and answers get lost", { timeout: patience() }, async () => {
    const random = randomOf(SEED);
    const fates: readonly Fate[] = ["lose request", "lose answer", "lose sight"];
    let lost = 0;
    let lostLocked = 0;
    let losing = false;
    // Locks come only after others were faster twice, so they are seldom, and cut the more often.
    const fate = (locked: boolean): Fate => {
      if (!losing || random() > (locked ? 0.5 : 0.1)) return "pass";
      if (locked) lostLocked++;
      return fates[lost++ % fates.length] ?? "pass";
    };
    await using proxy = await startProxy(server.url, fate);
    const disturb = async (busy: () => boolean) => {
      losing = true;
      while (busy()) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await underLoad(SEED + 80_000, rounds(40), disturb, proxy.url);
    expect(lost).toBeGreaterThan(0);
    report({ "requests or answers lost": lost, "of them under locks": lostLocked });
  });
});
