import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Amounts } from "../../src/core/amount.js";
import { verifyChain } from "../../src/core/chain/verify.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { LeaseLog } from "../../src/stores/lease/log.js";
import { type Note, Proofs } from "../../src/stores/lease/proofs.js";
import { recoverLeases } from "../../src/stores/lease/recovery.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { temporaryFolder } from "./folder.js";

const SMALL_BYTES = 2000;

async function scene(folder: string, most_bytes = SMALL_BYTES) {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const grant = { kind: "limits", limits: { steps: 1000, memory_peak_bytes: 1000 } as unknown as Amounts } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "tenant", scope: "shared", grant } }]);
  const path = join(folder, "dead.jsonl");
  const now = () => clock.now().instant;
  const log = await LeaseLog.open({ path, holder: "dead", dimensions: STANDARD, now, most_bytes });
  const lease = async (call: string, steps: number) => {
    const asked = { steps } as unknown as Amounts;
    await store.apply([{ op: "reserve", budget: "tenant", call, kind: "lease", asked }]);
    await log.write(["granted", call, "tenant", now(), { steps }]);
  };
  const recover = async () => {
    clock.jump(1);
    await recoverLeases(folder, store, clock, "other", () => false);
    return (await store.budget("tenant"))?.used ?? {};
  };
  return { log, path, lease, recover };
}

async function called(log: LeaseLog, slice: string, from: number, count: number): Promise<void> {
  for (let at = from; at < from + count; at++) {
    await log.write(["reserved", slice, `call-${at}`, "code", { steps: 1 }]);
    await log.write(["settled", slice, `call-${at}`, { steps: 1, memory_peak_bytes: at }, {}]);
  }
}

describe("the log of leases", () => {
  test("is begun anew when it is long, and proves the same", async () => {
    await using folder = await temporaryFolder();
    const { log, path, lease, recover } = await scene(folder.path);
    await lease("kept", 200);
    await lease("given back", 100);
    await called(log, "kept", 0, 100);
    await called(log, "given back", 100, 50);
    await log.write(["returned", "given back"]);
    await log.write(["reserved", "kept", "asked", "model", { steps: 7 }]);
    await log.write(["reserved", "kept", "tried", "code", { steps: 9 }]);
    await called(log, "kept", 200, 20);

    expect((await stat(path)).size).toBeLessThan(2 * SMALL_BYTES);
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
    expect(await recover()).toMatchObject({ steps: 100 + 20 + 7, memory_peak_bytes: 219 });
    expect(await readdir(folder.path)).toEqual(["dead.jsonl.settled"]);
  });

  test("counts a late report in place of what was charged before, also when that is in the file before", async () => {
    await using folder = await temporaryFolder();
    const { log, lease, recover } = await scene(folder.path);
    await lease("slice", 500);
    await log.write(["reserved", "slice", "late", "model", { steps: 50 }]);
    await log.write(["settled", "slice", "late", { steps: 50 }, {}]);
    await called(log, "slice", 0, 40);
    await log.write(["settled", "slice", "late", { steps: 20 }, { steps: 50 }]);
    expect(await recover()).toMatchObject({ steps: 60 });
  });

  test("stays what it is where it cannot be begun anew", async () => {
    await using folder = await temporaryFolder();
    const { log, path, lease, recover } = await scene(folder.path);
    await mkdir(`${path}.next`);
    await lease("slice", 500);
    await called(log, "slice", 0, 60);
    expect(log.isBroken).toBe(false);
    expect((await stat(path)).size).toBeGreaterThan(2 * SMALL_BYTES);
    expect(await recover()).toMatchObject({ steps: 60 });
  });

  test("does not mind what whoever died had begun to write", async () => {
    await using folder = await temporaryFolder();
    const { log, path, lease, recover } = await scene(folder.path);
    await lease("slice", 100);
    await called(log, "slice", 0, 3);
    await writeFile(`${path}.next`, '{"action_type":"LeaseLogOpened"');
    expect(await recover()).toMatchObject({ steps: 3 });
    expect(await readdir(folder.path)).toEqual(["dead.jsonl.settled"]);
  });

  test("is not kept when there is nothing to prove", async () => {
    await using folder = await temporaryFolder();
    const { log, lease } = await scene(folder.path);
    await lease("slice", 100);
    await log.write(["returned", "slice"]);
    await log.close();
    expect(await readdir(folder.path)).toEqual([]);
  });
});

const SLICES = ["a", "b", "c"];
const steps = fc.record({ steps: fc.nat(9), memory_peak_bytes: fc.nat(9) });
const slice = fc.constantFrom(...SLICES);
const call = fc.constantFrom("x", "y", "z");
const note: fc.Arbitrary<Note> = fc.oneof(
  fc.tuple(fc.constant("granted"), slice, fc.constant("tenant"), fc.nat(9), steps),
  fc.tuple(fc.constant("reserved"), slice, call, fc.constantFrom("model", "code"), steps),
  fc.tuple(fc.constant("settled"), slice, call, steps, fc.constant({})),
  fc.tuple(fc.constant("moved"), slice, slice).filter(([, from, to]) => from !== to),
  fc.tuple(fc.constant("returned"), slice),
);

test("what notes come to is the same when it is written down anew at any point", () => {
  fc.assert(
    fc.property(fc.array(note, { maxLength: 40 }), fc.nat(40), (notes, cut) => {
      const whole = new Proofs(STANDARD);
      for (const each of notes) whole.take(each);

      const first = new Proofs(STANDARD);
      for (const each of notes.slice(0, cut)) first.take(each);
      const second = new Proofs(STANDARD);
      for (const each of [...first.notes(), ...notes.slice(cut)]) second.take(each);

      expect([...second.left()]).toEqual([...whole.left()]);
    }),
  );
});
