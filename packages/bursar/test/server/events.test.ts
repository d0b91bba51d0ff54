import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import type { Document, DocumentKind } from "../../src/core/document.js";
import { defineAgent } from "../../src/runs/agent.js";
import { openBursar } from "../../src/runs/bursar.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { deferred } from "../../src/runtime/deferred.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { Feed } from "../../src/views/views.js";
import { openRaw, written } from "../gateway/raw.js";
import { until } from "../gateway/until.js";
import { type Heard, type Listener, listen } from "./listening.js";
import { opened, TIGHT, talkerOf } from "./scene.js";

const linesOf = ({ heard }: Listener) =>
  heard.filter(({ event }) => event === "link").map(({ data }) => data as { seq: number; line: string });
const named = (id: string) => (heard: Heard) =>
  heard.event === "changed" && (heard.data as { runs: string[] }).runs.includes(id);
const inStatus = (status: string) => (heard: Heard) =>
  heard.event === "run" && (heard.data as { status: string }).status === status;

describe("events", () => {
  test("tell which runs and requests have changed", async () => {
    await using at = await opened();
    using listener = await listen(`${at.url}/api/v1/events`);
    expect([listener.status, listener.incoming.headers["content-type"]]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
    ]);
    const { id, pause } = await at.start("abc", TIGHT);
    await listener.hears("of the run", named(id));
    const asked = pause?.approvals[0] ?? "";
    await listener.hears("of the request", ({ data }) => (data as { approvals: string[] }).approvals.includes(asked));
  });

  test("tell at once what is written through the feed's store", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore();
    // Nobody ever looks by himself: the feed's own clock stands still.
    using feed = new Feed({ store, timer: clock });
    await using at = await opened({ store, feed });
    using listener = await listen(`${at.url}/api/v1/events`);
    await feed.ready();
    await openBursar({ store: feed.store, programs: [talkerOf({ defineAgent })] }).start(
      "talker",
      { words: [] },
      { id: "one" },
    );
    await listener.hears("of the run", named("one"));
  });

  test("are open only when what others write from then on is told", async () => {
    const clock = new FakeClock();
    const store = new LookedAt();
    using feed = new Feed({ store, timer: clock });
    await using at = await opened({ store, feed });
    const order: string[] = [];
    // Whoever looks for the first time takes so long that anybody would have heard that it is open.
    store.looked = async () => {
      for (let turn = 0; turn < 5; turn++) await at.get("/api/v1/health");
      order.push("looked");
    };
    using listener = await listen(`${at.url}/api/v1/events`);
    order.push("open");
    expect(order).toEqual(["looked", "open"]);
    await openBursar({ store, programs: [talkerOf({ defineAgent })] }).start("talker", { words: [] }, { id: "one" });
    clock.advance(500);
    await listener.hears("of the run", named("one"));
  });

  test("of a run are its chain, line by line, and the run as it changes", async () => {
    await using at = await opened();
    const { id, pause } = await at.start("abc", TIGHT);
    using listener = await listen(`${at.url}/api/v1/runs/${id}/events`);
    await listener.hears("that it stands still", inStatus("paused"));
    await at.post(`/api/v1/approvals/${pause?.approvals[0]}/approve`);
    await listener.hears("that it has ended", inStatus("completed"));
    const head = await at.store.head(id);
    await until("all links are there", () => linesOf(listener).length === (head?.seq ?? 0) + 1);
    const lines = linesOf(listener);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index));
    expect(
      await verifyChain(
        lines.map(({ line }) => line),
        { hash: sha256Hex },
      ),
    ).toMatchObject({ ok: true });
  });

  test("go on after the last that was seen, when a client connects again", async () => {
    await using at = await opened();
    const { id } = await at.start("abcdef");
    const url = `${at.url}/api/v1/runs/${id}/events`;
    using first = await listen(url);
    const third = await first.hears("the third link", ({ id: seq }) => seq === "2");
    expect(third.data).toMatchObject({ seq: 2 });
    using second = await listen(`${url}?from=0`, { "last-event-id": "2" });
    await second.hears("a run", ({ event }) => event === "run");
    expect(linesOf(second)[0]?.seq).toBe(3);
    using later = await listen(`${url}?from=5`);
    await later.hears("a run", ({ event }) => event === "run");
    expect(linesOf(later)[0]?.seq).toBe(5);
    using odd = await listen(url, { "last-event-id": "none of ours" });
    await odd.hears("the first link", ({ id: seq }) => seq === "0");
  });

  test("reach a hundred listeners of one client, beside whom others are served; too many are refused", async () => {
    await using at = await opened();
    const listeners = await Promise.all(Array.from({ length: 100 }, () => listen(`${at.url}/api/v1/events`)));
    expect(listeners.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200));
    const { body } = await at.get<string>("/metrics");
    expect(body).toContain("bursar_event_streams 100");
    const { id } = await at.start("a");
    await Promise.all(listeners.map((each) => each.hears("of the run", named(id))));
    const more = await Promise.all(Array.from({ length: 151 }, () => listen(`${at.url}/api/v1/events`)));
    expect(more.filter(({ status }) => status === 429)).toHaveLength(1);
    for (const each of [...listeners, ...more]) each[Symbol.dispose]();
    await until("all are forgotten", async () =>
      (await at.get<string>("/metrics")).body.includes("bursar_event_streams 0"),
    );
  });

  test("come with signs of life, as long as whoever listens is known", async () => {
    const timer = new FakeClock();
    await using at = await opened({ timer, requireLogin: true }, ["viewer", "admin"]);
    using viewer = await listen(`${at.url}/api/v1/events`, at.as("viewer"));
    using admin = await listen(`${at.url}/api/v1/events`, at.as("admin"));
    const beat = async (count: number) => {
      timer.advance(15_000);
      await until(`it beats ${count} times`, () => admin.comments() === count);
    };
    await beat(1);
    await until("the other hears it too", () => viewer.comments() === 1);
    await at.revoke("viewer");
    await beat(2);
    await viewer.hears("that it is dropped", ({ event }) => event === "dropped");
    await until("it is over", () => viewer.isOver());
    expect([viewer.comments(), admin.isOver()]).toEqual([1, false]);
  });

  test("come with one sign of life at a time, though the last listener leaves and another comes meanwhile", async () => {
    const timer = new FakeClock();
    const store = new HeldStore();
    await using at = await opened({ store, timer, requireLogin: true }, ["admin"]);
    const { streams, changes } = worldOf(at.server);
    const url = `${at.url}/api/v1/events`;
    const first = await listen(url, at.as("admin"));
    const { promise, resolve } = deferred<void>();
    store.held = promise;
    timer.advance(15_000);
    expect(store.held).toBeNull();
    first[Symbol.dispose]();
    await until("nobody listens", () => streams.size === 0);
    using second = await listen(url, at.as("admin"));
    resolve();
    await new Promise((settled) => setImmediate(settled));
    for (const count of [1, 2, 3]) {
      timer.advance(15_000);
      await until(`it beats ${count} times`, () => second.comments() >= count);
      changes.tellAll({ runs: [`${count}`], approvals: [] });
      await second.hears("what is said after it", named(`${count}`));
      expect(second.comments()).toBe(count);
    }
  });

  test("are not kept for who does not read them: he is hung up on", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore();
    using feed = new Feed({ store, timer: clock });
    await using at = await opened({ store, feed });
    using slow = await openRaw(at.url);
    slow.socket.pause();
    slow.write(written("GET /api/v1/events", ["Host: localhost"]));
    using quick = await listen(`${at.url}/api/v1/events`);
    await feed.ready();
    const { streams, changes } = worldOf(at.server);
    await until("both listen", () => streams.size === 2);
    // More than what the system keeps for a connection that nobody reads from.
    const runs = Array.from({ length: 500 }, (_, index) => `${"run".repeat(300)}${index}`);
    await until("one is dropped", async () => {
      changes.tellAll({ runs, approvals: [] });
      await new Promise((resolve) => setImmediate(resolve));
      return streams.size === 1;
    });
    expect(quick.isOver()).toBe(false);
    expect(quick.heard.length).toBeGreaterThan(0);
  });
});

test("a long chain is read as fast as the client reads it, and a client that stops reading is dropped", async () => {
  const timer = new FakeClock();
  const store = new MemoryStore();
  await using at = await opened({ store, timer });
  await at.bursar.start("talker", { words: [] }, { id: "long" });
  await at.still("long");
  const said = "x".repeat(10_000);
  const record = { op: "record", budget: "long", action: { action_type: "Said", data: { said } } } as const;
  for (let each = 0; each < 20; each++) await store.apply(Array.from({ length: 100 }, () => record));
  using slow = await openRaw(at.url);
  slow.socket.pause();
  slow.write(written("GET /api/v1/runs/long/events", ["Host: localhost"]));
  const { streams } = worldOf(at.server);
  await until("it listens", () => streams.size === 1);
  const response = () => [...streams.open.keys()][0]?.response;
  await until("the buffers are full", () => response()?.writableNeedDrain === true);
  // Of twenty million bytes, those that nobody has read are in the store alone.
  expect(response()?.writableLength).toBeLessThan(100_000);
  await until("it is dropped", () => {
    timer.advance(15_000);
    return streams.size === 0;
  });
});

/** Lets one reader of a document wait. */
class HeldStore extends MemoryStore {
  held: Promise<void> | null = null;

  override async document(kind: DocumentKind, id: string): Promise<Document | null> {
    const { held } = this;
    this.held = null;
    await held;
    return super.document(kind, id);
  }
}

/** A store that tells of the first look at what is new. */
class LookedAt extends MemoryStore {
  looked: (() => Promise<void>) | null = null;

  override async *latest(...[kind, query]: Parameters<MemoryStore["latest"]>): AsyncGenerator<Document> {
    const { looked } = this;
    this.looked = null;
    await looked?.();
    yield* super.latest(kind, query);
  }
}

interface Inside {
  readonly streams: {
    readonly size: number;
    readonly open: ReadonlyMap<{ readonly response: ServerResponse }, unknown>;
  };
  readonly changes: { tellAll(changed: { runs: readonly string[]; approvals: readonly string[] }): void };
}

function worldOf(server: object): Inside {
  return (server as { readonly world: Inside }).world;
}
