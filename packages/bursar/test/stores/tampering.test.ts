import { copyFile } from "node:fs/promises";
import { defineAgent, defineTool, openBursar, openStore } from "bursar";
import { Keys } from "bursar/gateway";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CallKind, chargeFor } from "../../src/core/usage.js";
import { openDatabase } from "../../src/stores/sqlite/driver.js";
import { amounts, ENDED_RUN, fill, OPEN_RUN, SESSION } from "./filled.js";
import { bothEngines, checked } from "./housed.js";

const { sqlite, server } = await bothEngines();
const ENGINES = [
  ["SQLite", sqlite],
  ["PostgreSQL", server],
] as const;

/** A store with everything that a check rebuilds. */
async function everything(url: string): Promise<void> {
  await using store = await openStore(url);
  await fill(store);
  const asked = amounts({ cost_usd: 0.2, steps: 1 });
  await store.apply([
    { op: "reserve", budget: "part", call: "late", kind: "model", asked, step_id: "of a step", capability_id: "llm:x" },
    { op: "commit", call: "late", used: amounts({ steps: 1 }) },
    { op: "commit", call: "late", used: amounts({ cost_usd: 0.1 }) },
    { op: "reserve", budget: "part", call: "broken off", kind: "model", asked },
    { op: "commit", call: "broken off", used: {}, seen: amounts({ cost_usd: 0.3 }) },
    { op: "reserve", budget: "part", call: "too large", kind: "model", asked: amounts({ cost_usd: 5 }) },
    { op: "pause", budget: OPEN_RUN },
  ]);
  const keys = new Keys(store);
  const { key } = await keys.create({ budget: SESSION, label: "one" });
  await keys.create({ budget: SESSION, label: "two" });
  await keys.revoke(key.id);
}

const kept = sqlite.fresh();
await everything(kept);

const YES = { by: "ann", at: 1, reason: null, extension: {} };

/** Another store with the same contents. */
async function copied(): Promise<string> {
  const url = sqlite.fresh();
  await sqlite.tamper(kept, "PRAGMA wal_checkpoint(TRUNCATE)");
  await copyFile(kept.slice("sqlite:".length), url.slice("sqlite:".length));
  return url;
}

test("nothing is wrong with it before", async () => {
  const report = await checked(await copied());
  expect(report).toMatchObject({ ok: true, defects: [], keys: 2 });
  expect(report.rebuilt).toBe(report.budgets);
});

describe.for(ENGINES)("a check of a %s store names", ([, engine]) => {
  test.for([
    ["a budget that was refilled", ENDED_RUN, { used: {} }, { field: "used.cost_usd", store: 0, chain: 333_456_789 }],
    ["running time that was taken back", OPEN_RUN, { elapsed: -99_999_999 }, { field: "elapsed", store: -99_999_999 }],
    ["a clock that was made to run", OPEN_RUN, { since: { instant: 1, monotonic: 1, clock: "" } }, { chain: false }],
    [
      "an exhaustion that was lifted",
      "part",
      { exhausted: [] },
      { field: "exhausted", store: [], chain: ["cost_usd"] },
    ],
    ["warnings that were passed over", SESSION, { warned: { cost_usd: 2 } }, { field: "warned.cost_usd", store: 2 }],
  ] as const)("%s", async ([, budget, change, difference]) => {
    const url = engine === sqlite ? await copied() : engine.fresh();
    if (engine !== sqlite) await everything(url);
    await replaceState(engine, url, budget, (state) => ({ ...state, ...change }));
    if ("used" in change) await engine.tamper(url, `DELETE FROM calls WHERE budget = '${budget}'`);
    const { ok, defects } = await checked(url);
    expect(ok).toBe(false);
    const told = expect.objectContaining({ budget, ...difference });
    expect(defects).toContainEqual(expect.objectContaining({ difference: told }));
  });

  test.for([
    ["limits beside what was used", { limits: { cost_usd: 9_000_000_000_000_000 } }],
    ["policies beside what was used", { policies: { cost_usd: "soft_warn" } }],
    ["a start of the clock that is none", { since: {} }],
    ["a start of the clock without an instant", { since: { instant: "x", monotonic: 1, clock: "" } }],
    ["a running time that is a text", { elapsed: "0" }],
  ] as const)("%s", async ([, planted]) => {
    const url = engine === sqlite ? await copied() : engine.fresh();
    if (engine !== sqlite) await everything(url);
    const limits = async () => {
      await using store = await openStore(url);
      return (await store.budget(OPEN_RUN))?.limits;
    };
    const before = await limits();
    await replaceState(engine, url, OPEN_RUN, (state) => ({ ...state, ...planted }));
    const { ok, defects } = await checked(url);
    expect(ok).toBe(false);
    expect(defects.map(({ where }) => where)).toContain(`budget ${OPEN_RUN}`);
    expect(await limits()).toEqual(before);
  });

  test("a call whose row names two budgets", async () => {
    const url = engine === sqlite ? await copied() : engine.fresh();
    if (engine !== sqlite) await everything(url);
    const planted = `UPDATE calls SET body = replace(body, '{"capability_id"', '{"budget":"${SESSION}","capability_id"') WHERE id = 'in part'`;
    await engine.tamper(url, planted);
    expect((await checked(url)).ok).toBe(false);
    await using store = await openStore(url);
    await store.apply([{ op: "commit", call: "in part", used: amounts({ cost_usd: 0.01 }) }]);
    await engine.tamper(
      url,
      `UPDATE calls SET body = replace(body, '"budget":"${SESSION}",', '') WHERE id = 'in part'`,
    );
    expect((await checked(url)).defects).toEqual([]);
  });

  test("a budget, what is above it, and its call that were lowered alike", async () => {
    const url = engine === sqlite ? await copied() : engine.fresh();
    if (engine !== sqlite) await everything(url);
    await engine.tamper(url, "UPDATE calls SET body = replace(body, '123456789', '23456789') WHERE id = 'part/used'");
    for (const id of ["part", OPEN_RUN, SESSION]) {
      await replaceState(engine, url, id, ({ used, ...state }) => {
        const { cost_usd, ...more } = used as { cost_usd: number };
        return { ...state, used: { cost_usd: cost_usd - 100_000_000, ...more } };
      });
    }
    const { defects } = await checked(url);
    const differences = defects.flatMap(({ difference }) => (difference === undefined ? [] : [difference]));
    for (const budget of ["part", OPEN_RUN, SESSION]) {
      const found = differences.find((each) => each.budget === budget && each.field === "used.cost_usd");
      expect(Number(found?.chain) - Number(found?.store)).toBe(100_000_000);
    }
    expect(defects).toContainEqual(expect.objectContaining({ where: "call part/used" }));
  });

  test("a budget that was opened again", async () => {
    const url = engine === sqlite ? await copied() : engine.fresh();
    if (engine !== sqlite) await everything(url);
    await engine.tamper(url, `UPDATE states SET ended = 0 WHERE id = '${ENDED_RUN}'`);
    const difference = { budget: ENDED_RUN, field: "ended", store: false, chain: true };
    expect((await checked(url)).defects).toContainEqual(expect.objectContaining({ difference }));
  });

  test.for([
    [
      "a policy that was softened",
      `UPDATE budgets SET terms = replace(terms, 'hard_stop', 'soft_warn') WHERE id = '${SESSION}'`,
      "says the policy hard_stop for",
    ],
    [
      "thresholds that were moved",
      `UPDATE budgets SET terms = replace(terms, '[50,80]', '[]') WHERE id = 'part'`,
      "says the thresholds 50,80",
    ],
    ["a child that was detached", "UPDATE budgets SET parent = NULL WHERE id = 'part'", "for parent, not null"],
    ["a hold that was made to vanish", "DELETE FROM calls WHERE id = 'in part'", "the store holds nothing for it"],
    ["another kind of call", "UPDATE calls SET kind = 'tool' WHERE id = 'in flight'", "for kind, its chain"],
    [
      "a call that was given back and is said to have died",
      "UPDATE calls SET status = 'expired' WHERE id = 'part/given back'",
      "say another kind, step, capability, status or amount",
    ],
    ["a lost row of a budget", "DELETE FROM budgets WHERE id = 'final'", "records its opening"],
    [
      "a planted key",
      "INSERT INTO keys (id, budget, status, body, version, seq) SELECT 'feed', budget, 'active', body, 1, 99 FROM keys LIMIT 1",
      "does not record that it was made",
    ],
    [
      "a key that was given back",
      "UPDATE keys SET status = 'active', version = 1 WHERE status = 'revoked'",
      'status is "active" in the store, "revoked"',
    ],
    ["a key of another budget", `UPDATE keys SET budget = '${OPEN_RUN}' WHERE status = 'active'`, "budget is"],
    [
      "a key with another secret",
      `UPDATE keys SET body = replace(body, '"hash":"', '"hash":"0') WHERE status = 'active'`,
      "another secret",
    ],
    [
      "a planted key, and the chain that would tell of it said to be in a file",
      [
        "INSERT INTO keys (id, budget, status, body, version, seq) SELECT 'feed', budget, 'active', body, 1, 99 FROM keys LIMIT 1",
        "UPDATE heads SET archived = 'server.jsonl' WHERE chain = 'bursar:server'",
      ],
      "is said to have been archived to server.jsonl, but its first link is here",
    ],
    ["a lost key", "DELETE FROM keys WHERE status = 'active'", "the server's chain records it"],
  ] as const)("%s", async ([, sql, problem]) => {
    const url = engine === sqlite ? await copied() : engine.fresh();
    if (engine !== sqlite) await everything(url);
    for (const statement of [sql].flat()) await engine.tamper(url, statement);
    const { ok, defects } = await checked(url);
    expect(ok).toBe(false);
    expect(defects.map((defect) => defect.problem).join("\n")).toContain(problem);
  });
});

describe.for(ENGINES)("in a %s store, a check names what was tampered with of a run or a request", ([, engine]) => {
  const send = defineTool({ name: "send", description: "Sends.", input: {}, approval: true, run: () => "sent" });
  const mail = defineAgent("mail", (ctx) => ctx.tool("send", {}));

  /** A run that was allowed to send, and one that still waits. */
  async function asking(): Promise<string> {
    const url = engine.fresh();
    await using store = await openStore(url);
    await using bursar = openBursar({ store, programs: [mail], tools: [send] });
    await bursar.run("mail", null, { id: "allowed" });
    await bursar.approve("allowed/checkpoint", { by: { role: "operator", name: "ann" } });
    await bursar.run("mail", null, { id: "waits" });
    return url;
  }

  test("nothing where all is as it was", async () => {
    expect(await checked(await asking())).toMatchObject({ ok: true, defects: [] });
  });

  test.for([
    ["that has another budget", { budget: "allowed" }, "has the budget allowed, but its beginning is recorded in"],
    ["that somebody else has started", { started_by: "bob" }, 'started_by is "bob" in the store'],
  ] as const)("a run %s", async ([, change, problem]) => {
    const url = await asking();
    const [row] = await engine.rows(url, "SELECT budget, body FROM runs WHERE id = 'waits'");
    const kept = { ...JSON.parse(String(row?.body)), ...change };
    const body = JSON.stringify(kept).replaceAll("'", "''");
    await engine.tamper(url, `UPDATE runs SET budget = '${kept.budget}', body = '${body}' WHERE id = 'waits'`);
    const { ok, defects } = await checked(url);
    expect([ok, defects]).toMatchObject([false, [{ where: "run waits", problem: expect.stringContaining(problem) }]]);
  });

  test("a run that was planted", async () => {
    const url = await asking();
    const columns = "budget, status, body, version, seq";
    await engine.tamper(
      url,
      `INSERT INTO runs (id, ${columns}) SELECT 'more', ${columns} FROM runs WHERE id = 'waits'`,
    );
    const problem = "is under way in the store, but no chain records that it began";
    expect((await checked(url)).defects).toMatchObject([{ where: "run more", problem }]);
  });

  test.for([
    ["that nobody has answered", "pending", { status: "approved", decision: YES }, "no chain records this decision"],
    [
      "that somebody else has answered",
      "approved",
      { status: "approved", decision: { ...YES, by: "bob" } },
      'by is "bob" in the store',
    ],
    ["of another action", "approved", { status: "approved", digest: "0".repeat(64) }, "digest is"],
    ["that is open again", "approved", { status: "pending", decision: null }, 'status is "pending" in the store'],
  ] as const)("a request %s", async ([, of, { status, ...change }, problem]) => {
    const url = await asking();
    const [row] = await engine.rows(url, `SELECT id, body FROM approvals WHERE status = '${of}'`);
    const body = JSON.stringify({ ...JSON.parse(String(row?.body)), ...change }).replaceAll("'", "''");
    await engine.tamper(url, `UPDATE approvals SET status = '${status}', body = '${body}' WHERE id = '${row?.id}'`);
    const { ok, defects } = await checked(url);
    expect(ok).toBe(false);
    expect(defects).toMatchObject([{ where: `request ${row?.id}`, problem: expect.stringContaining(problem) }]);
  });
});

type Body = Record<string, unknown>;

async function replaceState(
  engine: typeof sqlite,
  url: string,
  id: string,
  change: (state: Body) => Body,
): Promise<void> {
  const [row] = await engine.rows(url, `SELECT state FROM states WHERE id = '${id}'`);
  const state = JSON.stringify(change(JSON.parse(String(row?.state)))).replaceAll("'", "''");
  await engine.tamper(url, `UPDATE states SET state = '${state}' WHERE id = '${id}'`);
}

/** Everything in the tables that decides what may be spent, and by whom: table, column, and members of its JSON. */
const MATTERS = [
  ["budgets", "parent", []],
  ["budgets", "chain", []],
  ["budgets", "origin", []],
  ["budgets", "terms", ["scope", "funding", "limits", "policies", "thresholds", "deadline"]],
  ["states", "state", ["used", "reserved", "aside", "extended", "exhausted", "open", "elapsed", "since"]],
  ["states", "ended", []],
  ["calls", "budget", []],
  ["calls", "kind", []],
  ["calls", "status", []],
  ["calls", "body", ["asked", "charged", "capability_id", "reported"]],
  ["keys", "budget", []],
  ["keys", "status", []],
  ["keys", "version", []],
  ["keys", "body", ["hash", "label", "expires"]],
  ["heads", "seq", []],
  ["heads", "hash", []],
] as const;

/** Another value of the same kind. */
function other(value: unknown, number: number): unknown {
  if (typeof value === "number") return value === 0 ? number : value > 1 ? value - 1 : 0;
  if (typeof value === "string") return `${value}${number}`;
  if (value === null || value === undefined) return number;
  if (Array.isArray(value)) return value.length === 0 ? ["cost_usd"] : value.slice(1);
  const entries = Object.entries(value);
  const [id, first] = entries[number % Math.max(1, entries.length)] ?? ["cost_usd", 0];
  if (entries.length === 0) return { cost_usd: number };
  return { ...value, [id]: typeof first === "string" ? "soft_warn" : other(first, number) };
}

/** Steps count as reserved, however few are reported: what is charged stays the same. */
function isSameCharge(kind: CallKind, before: string, after: string): boolean {
  const [was, is] = [before, after].map((body) => {
    const { asked = {}, reported = {}, estimate = {} } = JSON.parse(body);
    return JSON.stringify(chargeFor(kind, asked, reported, estimate));
  });
  return was === is;
}

test("whatever figure is changed in whatever row, the check finds it", async () => {
  const places = MATTERS.flatMap(([table, column, members]) =>
    members.length === 0
      ? [{ table, column, member: null as string | null }]
      : members.map((member) => ({ table, column, member: member as string | null })),
  );
  const missed: string[] = [];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...places),
      fc.nat(1000),
      fc.integer({ min: 1, max: 1000 }),
      async (place, at, by) => {
        const { table, column, member } = place;
        const url = await copied();
        const database = openDatabase(url.slice("sqlite:".length));
        const id = table === "heads" ? "chain" : "id";
        const kind = table === "calls" ? "kind" : "NULL";
        const fields = `${id} AS id, ${column} AS value, ${kind} AS kind`;
        const rows = database.prepare(`SELECT ${fields} FROM ${table} ORDER BY 1`).all();
        const row = rows[at % rows.length];
        const value = row?.value;
        let next: unknown;
        if (member === null)
          next = column === "status" ? (value === "released" ? "committed" : "released") : other(value, by);
        else {
          const body = JSON.parse(String(value));
          next = JSON.stringify({ ...body, [member]: other(body[member], by) });
        }
        database.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${id} = ?`).run(next as string, row?.id as string);
        database.close();
        const { ok } = await checked(url);
        if (member === "since" && ok) return; // A start that lies earlier is against whoever runs.
        if (member === "reported" && ok && isSameCharge(row?.kind as CallKind, String(value), String(next))) return;
        if (ok) missed.push(JSON.stringify({ place, row: row?.id, from: value, to: next }));
      },
    ),
    { numRuns: 300 },
  );
  expect([...new Set(missed)]).toEqual([]);
}, 120_000);
