import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { startChild } from "./child.js";
import { queryOf } from "./file-query.js";
import { temporaryFolder } from "./folder.js";
import { clockAhead, History } from "./history.js";
import { patience, randomOf, report, rounds, SEED, withSeed } from "./seeds.js";
import { checkTruth } from "./truth.js";

const folder = await temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());

type Damage = (log: Buffer, random: () => number) => Buffer;

/** What a disk may leave of the end of a file that was being written when the power failed. */
const DAMAGES: Readonly<Record<string, Damage>> = {
  "cut off": (log, random) => log.subarray(0, Math.floor(log.length * random())),
  "cut off near its end": (log, random) => log.subarray(0, log.length - Math.floor(10_000 * random())),
  "with a bit flipped": (log, random) => {
    const at = Math.floor(log.length * random());
    log[at] = (log[at] ?? 0) ^ (1 << Math.floor(8 * random()));
    return log;
  },
  "with zeros at its end": (log, random) => log.fill(0, Math.floor(log.length * random())),
  "with garbage at its end": (log, random) => {
    for (let at = Math.floor(log.length * random()); at < log.length; at++) log[at] = Math.floor(256 * random());
    return log;
  },
  "with garbage behind its end": (log, random) =>
    Buffer.concat([log, Buffer.from(Array.from({ length: 9_000 }, () => Math.floor(256 * random())))]),
};

async function linesOf(store: SqliteStore): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of store.chain("session")) lines.push(line);
  return lines;
}

/** A file as a killed process has left it, with everything still in its log. */
async function killed(): Promise<{
  readonly path: string;
  readonly history: History;
  readonly lines: readonly string[];
}> {
  const path = join(folder.path, "killed.db");
  const open = (ahead_ms: number) => SqliteStore.open({ path, clock: clockAhead(ahead_ms) });
  const history = new History({ path }, open, queryOf(path));
  await history.begin();
  const errand = { stores: [history.errand(SEED)], callers: 4, lists: 100_000 };
  const ended = await startChild("load.mjs", errand, { trap: "kill:answered:40" }).over;
  expect(ended.signal, ended.stderr).toBe("SIGKILL");
  history.witness.hear(ended.lines, 0);
  for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, join(folder.path, `left.db${end}`));
  await history.check();
  await using store = await open(0);
  return { path: join(folder.path, "left.db"), history, lines: await linesOf(store) };
}

describe("a SQLite file whose log is", () => {
  const left = killed();

  test.each(Object.entries(DAMAGES))(
    "%s opens as it was at an earlier moment",
    async (name, damage) => {
      const { path, history, lines } = await left;
      const log = readFileSync(`${path}-wal`);
      for (let at = 0; at < rounds(8); at++) {
        const seed = SEED + at;
        await withSeed(seed, async () => {
          const place = join(folder.path, `${name}-${at}`);
          mkdirSync(place);
          const torn = join(place, "torn.db");
          copyFileSync(path, torn);
          writeFileSync(`${torn}-wal`, damage(Buffer.from(log), randomOf(seed)));
          await using store = await SqliteStore.open({ path: torn });
          await checkTruth(store, queryOf(torn), history.witness.forgetful());
          const found = await linesOf(store);
          expect(lines.slice(0, found.length)).toEqual(found);
          report({ "logs torn": 1 });
        });
      }
    },
    patience(),
  );
});
