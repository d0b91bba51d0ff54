import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { MemoryStore } from "bursar";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Subscriptions } from "../../src/mcp/subscriptions.js";

const LOOK_MS = 1000;

/** A store that answers when it is let. */
class SlowStore extends MemoryStore {
  asked = 0;
  isAway = false;
  private gate: Promise<void> = Promise.resolve();

  /** Nothing is answered until what this gives is called. */
  hold(): () => void {
    let open = () => {};
    this.gate = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  }

  override async head(...args: Parameters<MemoryStore["head"]>): ReturnType<MemoryStore["head"]> {
    this.asked++;
    if (this.isAway) throw new Error("away");
    await this.gate;
    return super.head(...args);
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

async function connected() {
  const store = new SlowStore();
  const server = new McpServer({ name: "test", version: "0" });
  const subscriptions = new Subscriptions(server, store);
  const client = new Client({ name: "test", version: "0" });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(other), client.connect(one)]);
  return { store, subscriptions, client };
}

const asked = (store: SlowStore, times: number) => vi.waitUntil(() => store.asked >= times);
const uri = (number: number) => `bursar://budgets/b${number}`;

test("a subscription that is under way when its connection ends is none", async () => {
  const { store, subscriptions, client } = await connected();
  const open = store.hold();
  const subscribing = client.subscribeResource({ uri: uri(0) }).catch(() => null);
  await asked(store, 1);
  subscriptions[Symbol.dispose]();
  open();
  await subscribing;
  expect(vi.getTimerCount()).toBe(0);
});

test("those that come at once are bounded as those that follow each other", async () => {
  const { store, subscriptions, client } = await connected();
  using _ = subscriptions;
  const open = store.hold();
  const all = Array.from({ length: 103 }, (_, number) => client.subscribeResource({ uri: uri(number) }));
  const ended = Promise.allSettled(all);
  await asked(store, 100);
  open();
  const refused = (await ended).filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(3);
});

test("one that failed takes no place", async () => {
  const { store, subscriptions, client } = await connected();
  using _ = subscriptions;
  store.isAway = true;
  await expect(client.subscribeResource({ uri: uri(0) })).rejects.toThrow();
  store.isAway = false;
  for (let number = 1; number <= 100; number++) await client.subscribeResource({ uri: uri(number) });
  await expect(client.subscribeResource({ uri: uri(101) })).rejects.toThrow("the most allowed");
});

test("a look that takes long is not overtaken by the next", async () => {
  const { store, subscriptions, client } = await connected();
  using _ = subscriptions;
  await client.subscribeResource({ uri: uri(0) });
  const before = store.asked;
  const open = store.hold();
  vi.advanceTimersByTime(5 * LOOK_MS);
  await asked(store, before + 1);
  expect(store.asked).toBe(before + 1);
  open();
});
