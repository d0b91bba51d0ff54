import { expect, test } from "vitest";
import type { Amounts } from "../../src/core/amount.js";
import type { Operation } from "../../src/core/operation.js";
import type { Store } from "../../src/ports/store.js";
import { claimOf } from "../../src/runs/claim.js";
import { Desk } from "../../src/runs/desk.js";
import { exhaustionOf } from "../../src/runs/exhaustion.js";
import type { RunRecord } from "../../src/runs/record.js";
import { Theatre } from "./stage.js";

const bytes = (storage_write_bytes: number) => ({ storage_write_bytes }) as unknown as Amounts;
const RUN = { id: "run", budget: "run" } as RunRecord;

/** A run that finds too little room each time, and is given more just before it says so. */
async function extendedInTime() {
  const { store, clock } = new Theatre([]);
  const opening = { id: "run", scope: "run", grant: { kind: "limits", limits: bytes(10) } } as const;
  await store.apply([{ op: "open", parent: null, opening }]);
  const reserved: Operation[] = [];
  const apply = async (operations: readonly Operation[]) => {
    const reserve = operations.find(({ op }) => op === "reserve");
    if (reserve !== undefined) {
      reserved.push(reserve);
      const terms = { approved_by: "ann", reason: null, must: true } as const;
      await store.apply([{ op: "extend", budget: "run", additional: bytes(100), ...terms }]);
    }
    return store.apply(operations);
  };
  const seen = Object.assign(Object.create(store), { apply }) as Store;
  return { store, clock, reserved, desk: new Desk(seen, clock, await claimOf(store, "run"), 30_000) };
}

test("who is extended at the last moment goes on, however often", async () => {
  const { store, desk } = await extendedInTime();
  expect(await exhaustionOf(desk, RUN, 3, bytes(50))).toBeNull();
  expect(await exhaustionOf(desk, RUN, 3, bytes(150))).toBeNull();
  expect((await store.budget("run"))?.reserved).toEqual(bytes(0));
});

test("what was looked for in vain is not held for ever, if its worker dies", async () => {
  const { store, clock, desk, reserved } = await extendedInTime();
  await exhaustionOf(desk, RUN, 3, bytes(50));
  // As if it had died before it gave that back.
  const [reserve] = reserved as [Extract<Operation, { op: "reserve" }>];
  await store.apply([{ ...reserve, call: "dead" }]);
  clock.advance(24 * 60 * 60_000);
  await store.apply([{ op: "expire" }]);
  expect((await store.budget("run"))?.reserved).toEqual(bytes(0));
});
