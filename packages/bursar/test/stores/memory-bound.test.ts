import { expect, test } from "vitest";
import { type Head, InputError, MemoryStore, type Operation, sha256Hex, verifyChain } from "../../src/index.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

const BOUND = 400_000;

function storeOf(keep: { readonly characters?: number; readonly calls?: number }) {
  return new MemoryStore({ clock: new FakeClock(), keep });
}

async function open(store: MemoryStore, id: string, parent: string | null = null, chain?: string): Promise<void> {
  const grant = { kind: "limits", limits: {} } as const;
  const opening = { id, scope: "run", grant, deadline: null } as const;
  await store.apply([{ op: "open", parent, opening, ...(chain !== undefined && { chain }) }]);
}

async function end(store: MemoryStore, id: string): Promise<void> {
  await store.apply([{ op: "end", budget: id, status: "Completed" } as Operation]);
}

function reserve(store: MemoryStore, budget: string, call: string) {
  return store.apply([{ op: "reserve", call, budget, kind: "tool", asked: {}, capability_id: "tool" } as Operation]);
}

async function callOnce(store: MemoryStore, budget: string, call: string): Promise<void> {
  await reserve(store, budget, call);
  await store.apply([{ op: "commit", call, used: {} } as Operation]);
}

async function read(store: MemoryStore, chain: string, from?: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of store.chain(chain, from)) lines.push(line);
  return lines;
}

/** What is left of a chain verifies between the last dropped link and the head. Gives how many characters it has. */
async function expectSound(store: MemoryStore, chain: string): Promise<number> {
  const [after, head] = [store.dropped(chain) ?? undefined, (await store.head(chain)) as Head];
  const lines = await read(store, chain, (after?.seq ?? -1) + 1);
  const verified = await verifyChain(lines, { hash: sha256Hex, head, after });
  expect(verified).toMatchObject({ ok: true, links: head.seq - (after?.seq ?? -1), head });
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

test("a live chain loses its oldest links, and what is left verifies after the last of them", async () => {
  const store = storeOf({ characters: BOUND });
  await open(store, "team");
  await open(store, "run", "team");
  for (let number = 0; number < 3000; number++) await callOnce(store, "run", `call ${number}`);
  expect(await expectSound(store, "team")).toBeLessThanOrEqual(BOUND);
  const dropped = store.dropped("team") as Head;
  expect(dropped.seq).toBeGreaterThan(1000);
  const told = {
    code: "store_archived",
    message: expect.stringContaining(`the links 0 to ${dropped.seq} of the chain team`),
  };
  for (const from of [0, 17, dropped.seq]) await expect(read(store, "team", from)).rejects.toMatchObject(told);
  const lines = await read(store, "team", dropped.seq + 1);
  const hash = sha256Hex;
  expect(await verifyChain(lines, { hash, after: { ...dropped, hash: "0".repeat(64) } })).toMatchObject({ ok: false });
  expect(await verifyChain(lines, { hash, after: { ...dropped, seq: dropped.seq - 1 } })).toMatchObject({ ok: false });
  expect(await verifyChain(lines, { hash })).toMatchObject({ ok: false, reason: "wrong_seq" });
  expect(
    await verifyChain(lines.slice(0, -1), { hash, after: dropped, head: (await store.head("team")) as Head }),
  ).toMatchObject({
    reason: "truncated",
  });
  // Figures are no matter of links.
  expect((await store.budget("run"))?.id).toBe("run");
});

test("runs that have ended go first, in that order; those that go on stay whole", async () => {
  const store = storeOf({ characters: BOUND });
  for (const id of ["paused", "early", "late"]) await open(store, id);
  // One of its two budgets goes on, and was opened when the other had ended.
  await open(store, "shared");
  await end(store, "shared");
  await open(store, "second", null, "shared");
  for (let number = 0; number < 50; number++) await callOnce(store, "paused", `paused ${number}`);
  const whole = await read(store, "paused");
  for (let number = 0; number < 1500; number++) {
    await open(store, `run ${number}`);
    await callOnce(store, `run ${number}`, `call ${number}`);
    await end(store, `run ${number}`);
    if (number === 10) await end(store, "early");
  }
  await end(store, "late");
  expect(await read(store, "paused")).toEqual(whole);
  expect(await read(store, "shared")).toHaveLength(3);
  await expect(read(store, "early")).rejects.toThrow("were dropped");
  await expect(read(store, "run 0")).rejects.toThrow("were dropped");
  // Of an ended run all is dropped, or nothing; and the latest are there.
  const kept: boolean[] = [];
  for (let number = 0; number < 1500; number++) {
    const dropped = store.dropped(`run ${number}`);
    const head = (await store.head(`run ${number}`)) as Head;
    if (dropped !== null) expect(dropped).toEqual(head);
    kept.push(dropped === null);
  }
  expect(kept.slice(-100)).toEqual(Array.from({ length: 100 }, () => true));
  expect(kept.indexOf(true)).toBeGreaterThan(500);
  expect(kept.lastIndexOf(false)).toBe(kept.indexOf(true) - 1);
  expect(await read(store, "late")).toHaveLength(2);
  let characters = await expectSound(store, "paused");
  for (let number = 0; number < 1500; number++) characters += await expectSound(store, `run ${number}`);
  expect(characters).toBeLessThanOrEqual(BOUND);
});

test("one chain that grows and grows does not push out the small ones", async () => {
  const store = storeOf({ characters: BOUND });
  await open(store, "small");
  await open(store, "gateway");
  await open(store, "ended");
  await callOnce(store, "ended", "ended");
  await end(store, "ended");
  for (let number = 0; number < 5000; number++) await callOnce(store, "gateway", `call ${number}`);
  expect(store.dropped("small")).toBeNull();
  expect(store.dropped("ended")).toBeNull();
  await expectSound(store, "small");
  expect(await expectSound(store, "gateway")).toBeLessThanOrEqual(BOUND);
  expect(store.dropped("gateway")?.seq).toBeGreaterThan(5000);
});

test("a chain whose links were all dropped goes on from its head", async () => {
  const store = storeOf({ characters: 20_000 });
  await open(store, "first");
  await callOnce(store, "first", "one");
  await end(store, "first");
  for (let number = 0; number < 4; number++) await open(store, `other ${number}`);
  for (let number = 0; number < 200; number++) await callOnce(store, `other ${number % 4}`, `call ${number}`);
  const head = await store.head("first");
  expect(store.dropped("first")).toEqual(head);
  await store.apply([{ op: "record", budget: "first", action: { action_type: "Noted", data: {} } }]);
  const lines = await read(store, "first", (head?.seq ?? 0) + 1);
  expect(lines).toHaveLength(1);
  await expectSound(store, "first");
});

test("many chains that grow, pause, end and grow again: each keeps its end, and all together no more than they may", async () => {
  let seed = 7;
  const dice = (sides: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * sides);
  };
  // The largest kept text is longer than that of a block.
  const store = storeOf({ characters: 1_000_000 });
  const written = new Map<string, string[]>();
  const over = new Set<string>();
  for (let step = 0; step < 6000; step++) {
    const id = `chain ${dice(40) + Math.floor(step / 600) * 20}`;
    if (!written.has(id)) {
      await open(store, id);
      written.set(id, []);
    }
    const data = { text: "x€"[dice(2)]?.repeat(dice(400)) ?? "" };
    for (let times = dice(8); times >= 0; times--)
      await store.apply([{ op: "record", budget: id, action: { action_type: "Noted", data } }]);
    if (!over.has(id) && dice(60) === 0) {
      over.add(id);
      await end(store, id);
    }
    if (step % 500 !== 0) continue;
    let characters = 0;
    for (const chain of written.keys()) characters += await expectSound(store, chain);
    expect(characters).toBeLessThanOrEqual(1_000_000);
    expect(characters).toBeGreaterThan(step < 1000 ? 0 : 400_000);
  }
});

test("a call counts once among the last so many, and one that is held is never forgotten", async () => {
  const store = storeOf({ calls: 100 });
  await open(store, "run");
  await reserve(store, "run", "held");
  for (let number = 0; number < 1000; number++) await callOnce(store, "run", `call ${number}`);
  for (const number of [999, 950, 900]) {
    await expect(reserve(store, "run", `call ${number}`)).rejects.toThrow("was committed already");
    const [again] = await store.apply([{ op: "commit", call: `call ${number}`, used: {} } as Operation]);
    expect(again).toMatchObject({ repeated: true });
  }
  await expect(store.apply([{ op: "commit", call: "call 100", used: {} } as Operation])).rejects.toThrow(
    "there is no call",
  );
  const [held] = await store.apply([{ op: "commit", call: "held", used: {} } as Operation]);
  expect(held).toMatchObject({ op: "commit", repeated: false });
});

test("calls that are held leave as much room for those that were settled, and each of them is held once", async () => {
  const store = storeOf({ calls: 10 });
  await open(store, "run");
  const held = Array.from({ length: 99 }, (_, number) => `held ${number}`);
  for (const call of held) await reserve(store, "run", call);
  for (let number = 0; number < 150; number++) await callOnce(store, "run", `call ${number}`);
  for (let number = 140; number < 150; number++)
    await expect(reserve(store, "run", `call ${number}`)).rejects.toThrow("was committed already");
  // Held calls that come after it do not push out a settled one.
  await callOnce(store, "run", "settled");
  for (let number = 0; number < 300; number++) await reserve(store, "run", `later ${number}`);
  await expect(reserve(store, "run", "settled")).rejects.toThrow("was committed already");
  const found: string[] = [];
  for await (const { id } of store.heldCalls()) found.push(id);
  expect(found).toHaveLength(399);
  expect(new Set(found)).toEqual(new Set([...held, ...Array.from({ length: 300 }, (_, number) => `later ${number}`)]));
  await expect(reserve(store, "run", "call 0")).resolves.toMatchObject([{ repeated: false }]);
});

test("journals of ended runs are dropped, the oldest first, and those of runs that go on are not", async () => {
  const store = storeOf({ characters: 100_000 });
  const entry = { text: "x".repeat(1000) };
  const begin = async (id: string) => {
    await open(store, id);
    await store.apply([
      { op: "put", kind: "run", id, budget: id, status: "running", body: {}, version: 0 },
      { op: "journal", run: id, key: "1", entry },
      { op: "journal", run: `${id}:1`, key: "1", entry },
    ]);
  };
  await begin("lives");
  // It is called like a part of the first, and goes on when that has ended.
  await begin("r0:1");
  for (let number = 0; number < 300; number++) {
    await begin(`r${number}`);
    await end(store, `r${number}`);
  }
  const length = async (run: string) => {
    let count = 0;
    for await (const _ of store.journal(run)) count++;
    return count;
  };
  expect(await length("lives")).toBe(1);
  expect(await length("lives:1")).toBe(1);
  expect([await length("r0:1"), await length("r0:1:1")]).toEqual([1, 1]);
  expect([await length("r0"), await length("r1"), await length("r1:1")]).toEqual([0, 0, 0]);
  expect([await length("r299"), await length("r299:1")]).toEqual([1, 1]);
  expect(await store.entry("r298", "1")).not.toBeNull();
});

test("a store that was told nothing has a bound too", async () => {
  const store = new MemoryStore();
  await open(store, "run");
  const data = { text: "x".repeat(1024 * 1024) };
  for (let times = 0; times < 40; times++)
    await store.apply([{ op: "record", budget: "run", action: { action_type: "Noted", data } }]);
  expect(await expectSound(store, "run")).toBeLessThanOrEqual(32 * 1024 * 1024);
  expect(store.dropped("run")?.seq).toBeGreaterThan(5);
});

test("what is kept can be everything, and a bound that makes no sense is refused", async () => {
  const store = storeOf({ characters: Number.POSITIVE_INFINITY, calls: Number.POSITIVE_INFINITY });
  await open(store, "run");
  await callOnce(store, "run", "call");
  expect(await read(store, "run")).toHaveLength(3);
  expect(() => storeOf({ characters: 0 })).toThrow(InputError);
  expect(() => storeOf({ calls: 1.5 })).toThrow("keep.calls");
  expect(() => storeOf({ call: 5 } as never)).toThrow("keep");
});
