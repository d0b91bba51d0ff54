import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { describe, expect, test } from "vitest";
import type { Operation } from "../../../src/core/operation.js";
import { keepSites, Sites } from "../../../src/models/reservations/sites.js";
import type { Outcomes, Store } from "../../../src/ports/store.js";
import { StoreOver } from "../../../src/runtime/store-over.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { temporaryFolder } from "../../stores/folder.js";
import { until } from "../fetch/scene.js";

function learn(sites: Sites, store: Store, count: number, tokens: number, key = "here") {
  const site = sites.find(key, "m", store);
  for (let at = 0; at < count; at++) site.add(tokens, false, store);
  return site;
}

/** Waits for what was read in the background. */
async function remembered(store: Store, key = "here"): Promise<number | null> {
  const site = new Sites().find(key, "m", store);
  await new Promise((resolve) => setImmediate(resolve));
  return site.upper;
}

async function documents(store: Store) {
  const found = [];
  for await (const document of store.documents("history", "site")) found.push(document);
  return found;
}

describe("what was learned about sites", () => {
  test("is known after a restart", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "sites.db");
    {
      await using store = await SqliteStore.open({ path });
      learn(new Sites(), store, 100, 300);
      await keepSites(store);
    }
    await using store = await SqliteStore.open({ path });
    const site = new Sites().find("here", "m", store);
    await until(() => site.upper !== null);
    expect(site.upper).toBe(450);
  });

  test("is not written down for a few answers, nor again when nothing is new", async () => {
    const store = new MemoryStore();
    const sites = new Sites();
    learn(sites, store, 19, 300);
    await sites.keep();
    expect(await documents(store)).toEqual([]);
    learn(sites, store, 1, 300);
    await sites.keep();
    await sites.keep();
    expect(await documents(store)).toMatchObject([{ version: 1, budget: null, body: { sites: [{ model: "m" }] } }]);
  });

  test("is written down by itself once much is new", async () => {
    const store = new MemoryStore();
    const sites = new Sites();
    learn(sites, store, 128, 300);
    await until(async () => (await documents(store)).length > 0);
    expect(await remembered(store)).toBe(450);
  });

  test("of several processes comes together, also when they write at the same time", async () => {
    const store = new MemoryStore();
    const [one, two] = [new Sites(), new Sites()];
    learn(one, store, 60, 300);
    learn(two, store, 60, 500);
    await Promise.all([one.keep(), two.keep()]);
    const [document] = await documents(store);
    const sites = document?.body.sites as readonly { outputs: readonly number[] }[] | undefined;
    expect([sites?.[0]?.outputs.length, document?.version]).toEqual([120, 2]);
    expect(await remembered(store)).toBe(750);
    learn(one, store, 1, 300);
    await one.keep();
    expect(one.find("here", "m", store).upper).toBe(750);
  });

  test("is written beneath a store that only writes in a way of its own", async () => {
    const beneath = new MemoryStore();
    const over = new Refusing(beneath);
    const sites = new Sites();
    learn(sites, over, 20, 300);
    await keepSites(beneath);
    expect(await remembered(beneath)).toBe(600);
  });

  test("is not lost when it cannot be written now, and nobody hears of it", async () => {
    const broken = new MemoryStore();
    broken.document = () => Promise.reject(new Error("the disk is full"));
    const sites = new Sites();
    learn(sites, broken, 20, 300);
    await sites.keep();
    const store = new MemoryStore();
    learn(sites, store, 1, 300);
    await sites.keep();
    expect(await remembered(store)).toBe(600);
  });

  test("has 256 documents at most, of eight sites each, and the oldest go", async () => {
    const store = new MemoryStore();
    const sites = new Sites();
    for (let at = 0; at < 3000; at++) learn(sites, store, 20, 300, `site ${at}`);
    await sites.keep();
    const all = await documents(store);
    expect(all.length).toBeLessThanOrEqual(256);
    for (const { body } of all) expect((body.sites as readonly unknown[]).length).toBeLessThanOrEqual(8);
    expect(await remembered(store, "site 2999")).toBe(600);
    expect(await remembered(store, "site 0")).toBeNull();
    // In memory too those go that were silent for longest.
    expect(sites.find("site 2999", "m", new MemoryStore()).upper).toBe(600);
    expect(sites.find("site 0", "m", new MemoryStore()).upper).toBeNull();
  });

  test("that makes no sense is not known", async () => {
    const store = new MemoryStore();
    const sites = new Sites();
    learn(sites, store, 100, 300);
    await sites.keep();
    const [document] = await documents(store);
    if (document === undefined) throw new Error("nothing was written");
    const [known] = document.body.sites as [object];
    const put = async (body: object) => {
      const [now] = await documents(store);
      await store.apply([{ op: "put", ...document, body: body as never, version: now?.version ?? 0 }]);
      return remembered(store);
    };
    expect(await put({ sites: [{ ...known, outputs: ["x", 1.5, null] }] })).toBeNull();
    expect(await put({ sites: 5 })).toBeNull();
    expect(await put({ sites: [null, 7, known] })).toBe(450);
  });
});

/** Nothing may be written through it. */
class Refusing extends StoreOver {
  apply<const Ops extends readonly Operation[]>(): Promise<Outcomes<Ops>> {
    return Promise.reject(new Error("nothing is written here"));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
