import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { type Line, startChild } from "./child.js";
import { queryOf } from "./file-query.js";
import { temporaryFolder } from "./folder.js";
import { clockAhead, History } from "./history.js";
import { Disk } from "./power-disk.js";
import { canTrace, type Deed, readTrace, tracing } from "./power-trace.js";
import { patience, randomOf, report, rounds, SEED, withSeed } from "./seeds.js";
import { checkTruth } from "./truth.js";
import { Witness } from "./witness.js";

const folder = await temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());

const CALLERS = 4;
const TRACES = canTrace();
const UNTRACED = "strace is missing, or not allowed here; torn logs are tried in torn.test.ts";
/** So many that the log is carried over into the file by the way, and begun anew. */
const LISTS = 400;

interface Life {
  /** The disk as it was before. */
  readonly disk: Disk;
  /** The same, of a kind that no store can do anything about. */
  readonly bad: Disk;
  readonly deeds: readonly Deed[];
}

/** A process that works on a store from its opening to its end, with everything that it does to its files. */
async function life(name: string, seed: number): Promise<Life> {
  const place = join(folder.path, name);
  mkdirSync(place);
  const path = join(place, "store.db");
  const open = (ahead_ms: number) => SqliteStore.open({ path, clock: clockAhead(ahead_ms) });
  const history = new History({ path }, open, queryOf(path));
  await history.begin();
  const [disk, bad] = [new Disk(place), new Disk(place, { keepsWord: false })];
  const errand = { stores: [history.errand(seed)], callers: CALLERS, lists: LISTS };
  return { disk, bad, deeds: await traced("load.mjs", errand, place) };
}

async function traced(script: string, errand: unknown, place: string): Promise<readonly Deed[]> {
  const trace = `${place}.trace`;
  const ended = await startChild(script, errand, { under: tracing(trace) }).over;
  expect(ended.code, ended.stderr).toBe(0);
  return readTrace(trace, place);
}

/** Lets the power fail at so many moments, in their order. Half of them are those at which something has just been acknowledged. */
async function failing(
  { disk, deeds }: Pick<Life, "disk" | "deeds">,
  times: number,
  random: () => number,
  look: (done: number) => Promise<void>,
): Promise<void> {
  const words = [...deeds.keys()].filter((at) => deeds[at]?.kind === "said");
  const moment = () => (random() < 0.5 ? words[Math.floor(random() * words.length)] : null);
  const moments = Array.from({ length: times }, () => moment() ?? Math.floor(random() * deeds.length));
  let done = 0;
  for (const at of moments.sort((one, other) => one - other)) {
    for (; done <= at; done++) disk.take(deeds[done] as Deed);
    await look(done);
  }
}

/** What had been said by then. */
function witnessOf(deeds: readonly Deed[]): Witness {
  const said = deeds.map((deed) => (deed.kind === "said" ? deed.text : "")).join("");
  const lines = said.split("\n").filter((line) => line !== "");
  const witness = new Witness();
  witness.hear(
    lines.map((line) => JSON.parse(line) as Line),
    0,
  );
  return witness;
}

/** Opens what is left, and holds it to all that was acknowledged. */
async function check(left: string, witness: Witness): Promise<void> {
  const path = join(left, "store.db");
  await using store = await SqliteStore.open({ path });
  await checkTruth(store, queryOf(path), witness);
}

describe("a SQLite store whose machine loses power", () => {
  let begun: Promise<Life> | null = null;
  const working = () => {
    begun ??= life("work", SEED);
    return begun;
  };

  test("has everything that was acknowledged", { timeout: patience() }, async ({ skip }) => {
    if (!TRACES) skip(UNTRACED);
    const { disk, deeds } = await working();
    // Else the log was never carried over while it was in use.
    expect(deeds.filter(isCarriedOver).length).toBeGreaterThan(1);
    const random = randomOf(SEED);
    let failures = 0;
    await failing({ disk, deeds }, rounds(60), random, async (done) => {
      const left = join(folder.path, `left-${failures++}`);
      disk.fail(left, random);
      await withSeed(SEED, () => check(left, witnessOf(deeds.slice(0, done))));
    });
    report({ "power failures": failures });
    expect(witnessOf(deeds).acknowledged.length).toBe(CALLERS * LISTS);
  });

  test("would not have it, had it not been synced", { timeout: patience() }, async ({ skip }) => {
    if (!TRACES) skip(UNTRACED);
    const { bad, deeds } = await working();
    const last = deeds.findLastIndex(({ kind }) => kind === "said");
    for (const deed of deeds.slice(0, last)) bad.take(deed);
    const left = join(folder.path, "forgotten");
    bad.fail(left, () => 0);
    await expect(check(left, witnessOf(deeds.slice(0, last)))).rejects.toThrow("is there");
  });

  test("can be opened while it was being made", { timeout: patience() }, async ({ skip }) => {
    if (!TRACES) skip(UNTRACED);
    const place = join(folder.path, "new");
    mkdirSync(place);
    const disk = new Disk(place);
    const opening = { id: "all", scope: "shared", grant: { kind: "limits", limits: {} } };
    const address = { path: join(place, "store.db") };
    const deeds = await traced("open.mjs", { address, operations: [{ op: "open", parent: null, opening }] }, place);
    const said = deeds.findIndex(({ kind }) => kind === "said");
    const random = randomOf(SEED);
    let failures = 0;
    await failing({ disk, deeds }, rounds(60), random, async (done) => {
      const left = join(folder.path, `new-${failures++}`);
      disk.fail(left, random);
      await withSeed(SEED, async () => {
        await using store = await SqliteStore.open({ path: join(left, "store.db") });
        if (done > said) expect((await store.path("all")).length).toBe(1);
      });
    });
    report({ "power failures": failures });
  });
});

/** A sync of the file itself: pages of the log have been carried over into it. */
function isCarriedOver(deed: Deed): boolean {
  return deed.kind === "synced" && deed.path.endsWith(".db");
}
