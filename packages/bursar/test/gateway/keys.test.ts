import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "bursar";
import { describe, expect, test } from "vitest";
import { Keys } from "../../src/gateway/keys.js";
import { Gate } from "../../src/runtime/gate.js";
import { hashOf } from "../../src/runtime/secret.js";
import { SERVER_CHAIN } from "../../src/runtime/server-chain.js";
import { MemoryStore } from "../../src/stores/memory.js";

import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { opened } from "./opened.js";
import { askRaw, written } from "./raw.js";

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 10, completion_tokens: 2 } } as const;
const ASK = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Hi" }], max_tokens: 50 };
const HOUR_MS = 3_600_000;

async function scene() {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  using gate = new Gate({ store });
  await gate.open("team", { limits: { cost_usd: 1 }, scope: "shared" });
  return { clock, store, keys: new Keys(store) };
}

async function recordedIn(store: MemoryStore): Promise<readonly unknown[]> {
  const links: { readonly action_type: string }[] = [];
  for await (const line of store.chain(SERVER_CHAIN)) links.push(JSON.parse(line));
  return links.filter(({ action_type }) => action_type.startsWith("Key"));
}

describe("keys", () => {
  test("are found by their secret and by nothing else", async () => {
    const { keys } = await scene();
    const { key, secret } = await keys.create({ budget: "team", label: "one" });
    const { secret: other } = await keys.create({ budget: "team" });
    expect(await keys.find(secret)).toEqual(key);
    const last = secret.at(-1) === "A" ? "B" : "A";
    const wrong = [secret.slice(0, -1), `${secret}A`, secret.slice(0, -1) + last, "", "bursar_", key.id];
    wrong.push(`bursar_${key.id}_${other.split("_").slice(2).join("_")}`, secret.toUpperCase(), ` ${secret}`);
    for (const each of wrong) expect(await keys.find(each), each).toBeNull();
  });

  test("are as random as they are long", async () => {
    const { keys } = await scene();
    const made = await Promise.all(Array.from({ length: 50 }, () => keys.create({ budget: "team" })));
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(50);
    for (const { secret } of made) expect(secret).toMatch(/^bursar_[0-9a-f]{16}_[\w-]{43}$/);
  });

  test("are listed without secrets and hashes, oldest first", async () => {
    const { keys, clock } = await scene();
    const labels = ["a", "b", "c"];
    for (const label of labels) {
      await keys.create({ budget: "team", label });
      clock.advance(10);
    }
    const list = await keys.list();
    expect(list.map(({ label }) => label)).toEqual(labels);
    expect(JSON.stringify(list)).not.toMatch(/hash|[0-9a-f]{64}/);
  });

  test("rotated, take the old secret for as long as is said, and the new one at once", async () => {
    const { keys, clock } = await scene();
    const { key, secret: old } = await keys.create({ budget: "team" });
    const { key: rotated, secret } = await keys.rotate(key.id, { grace_ms: HOUR_MS });
    expect(rotated.rotating_until).toBe(clock.now().instant + HOUR_MS);
    expect([await keys.find(old), await keys.find(secret)]).toEqual([rotated, rotated]);
    clock.advance(HOUR_MS - 1);
    expect(await keys.find(old)).not.toBeNull();
    clock.advance(1);
    expect(await keys.find(old)).toBeNull();
    expect(await keys.find(secret)).not.toBeNull();
    const { secret: newest } = await keys.rotate(key.id, { grace_ms: 0 });
    expect([await keys.find(secret), await keys.find(newest)]).toMatchObject([null, { id: key.id }]);
  });

  test("rotated twice take the secret before the last, and none before that", async () => {
    const { keys } = await scene();
    const { key, secret: first } = await keys.create({ budget: "team" });
    const { secret: second } = await keys.rotate(key.id);
    const { secret: third } = await keys.rotate(key.id);
    const found = await Promise.all([first, second, third].map(async (each) => (await keys.find(each)) !== null));
    expect(found).toEqual([false, true, true]);
  });

  test("revoked are taken no more, also not with an old secret, and stay in the list", async () => {
    const { keys } = await scene();
    const { key, secret: old } = await keys.create({ budget: "team" });
    const { secret } = await keys.rotate(key.id);
    expect(await keys.revoke(key.id)).toMatchObject({ status: "revoked" });
    expect([await keys.find(old), await keys.find(secret)]).toEqual([null, null]);
    expect(await keys.list()).toMatchObject([{ id: key.id, status: "revoked" }]);
    await expect(keys.rotate(key.id)).rejects.toMatchObject({ code: "key_revoked" });
    await expect(keys.revoke(key.id)).rejects.toMatchObject({ code: "key_revoked" });
    await expect(keys.revoke("nobody")).rejects.toMatchObject({ code: "no_such_key" });
  });

  test("expire at their instant, old secret and new", async () => {
    const { keys, clock } = await scene();
    const expires = new Date(clock.now().instant + HOUR_MS);
    const { key, secret: old } = await keys.create({ budget: "team", expires });
    const { secret } = await keys.rotate(key.id, { grace_ms: 10 * HOUR_MS });
    clock.advance(HOUR_MS - 1);
    expect([await keys.find(old), await keys.find(secret)]).toMatchObject([{ id: key.id }, { id: key.id }]);
    clock.advance(1);
    expect([await keys.find(old), await keys.find(secret)]).toEqual([null, null]);
  });

  test("are not made of what makes no sense", async () => {
    const { keys, clock, store } = await scene();
    await expect(keys.create({ budget: "nobody" })).rejects.toThrow(/is not there/);
    await expect(keys.create({ budget: "team", label: "x".repeat(201) })).rejects.toThrow(/label/);
    const past = new Date(clock.now().instant);
    for (const expires of [past, new Date(Number.NaN)]) {
      await expect(keys.create({ budget: "team", expires })).rejects.toThrow(/expires/);
    }
    const { key } = await keys.create({ budget: "team" });
    for (const grace_ms of [-1, Number.NaN])
      await expect(keys.rotate(key.id, { grace_ms })).rejects.toThrow(/grace_ms/);
    await store.apply([{ op: "end", budget: "team" }]);
    await expect(keys.create({ budget: "team" })).rejects.toThrow(/has ended/);
  });

  test("rotated by two at once have one new secret: the other is told", async () => {
    const { keys } = await scene();
    const { key } = await keys.create({ budget: "team" });
    const both = await Promise.allSettled([keys.rotate(key.id), keys.rotate(key.id)]);
    const made = both.flatMap((each) => (each.status === "fulfilled" ? [each.value.secret] : []));
    for (const secret of made) expect(await keys.find(secret)).not.toBeNull();
    expect(made.length).toBeGreaterThan(0);
  });

  test("leave word in the server's chain of all that is done to them, and by whom", async () => {
    const { keys, store } = await scene();
    const { key, secret } = await keys.create({ budget: "team", label: "one", by: "ann" });
    const { secret: newer } = await keys.rotate(key.id, { by: "ben" });
    await keys.revoke(key.id, "cid");
    await keys.create({ budget: "team" });
    const links = await recordedIn(store);
    const said = { key_id: key.id, budget: "team", label: "one" };
    expect(links).toMatchObject([
      { action_type: "KeyCreated", data: { ...said, by: "ann" } },
      { action_type: "KeyRotated", data: { ...said, by: "ben" } },
      { action_type: "KeyRevoked", data: { ...said, by: "cid" } },
      { action_type: "KeyCreated", data: { by: "operator" } },
    ]);
    const text = JSON.stringify(links);
    for (const each of [secret, newer]) {
      expect(text).not.toContain(each.slice(-43));
      expect(text).not.toContain(hashOf(each));
    }
  });

  test("change together with what is recorded of it, or not at all", async () => {
    const { keys, store } = await scene();
    const { key } = await keys.create({ budget: "team" });
    const all = await Promise.allSettled([keys.rotate(key.id), keys.rotate(key.id), keys.revoke(key.id)]);
    const done = all.filter(({ status }) => status === "fulfilled").length;
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(all.length);
    expect(await recordedIn(store)).toHaveLength(1 + done);
    // A name that no link can hold: what cannot be recorded is not done.
    const before = await keys.list();
    await expect(keys.create({ budget: "team", by: "\ud800" })).rejects.toThrow();
    expect(await keys.list()).toEqual(before);
  });

  test("are hashed at rest: no file of the store has a secret in it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bursar-keys-"));
    try {
      const store = await openStore(`sqlite:${join(folder, "keys.db")}`);
      const secrets: string[] = [];
      {
        await using at = await opened([HELLO, HELLO], { cost_usd: 1 }, { store });
        secrets.push(at.secret, (await at.gateway.keys.rotate(at.key.id)).secret);
        for (const secret of secrets) expect((await at.post("/v1/chat/completions", ASK, secret)).status).toBe(200);
      }
      const read = () => readdirSync(folder).map((name) => readFileSync(join(folder, name)));
      const open = read();
      await store[Symbol.asyncDispose]();
      const files = [...open, ...read()];
      expect(files.length).toBeGreaterThan(1);
      for (const secret of secrets) {
        const [, , random = ""] = /^bursar_([0-9a-f]{16})_(.+)$/.exec(secret) ?? [];
        expect(random).not.toBe("");
        for (const bytes of files) expect(bytes.includes(random)).toBe(false);
        for (const bytes of files) expect(bytes.includes(Buffer.from(random, "base64url"))).toBe(false);
      }
      expect(files.some((bytes) => bytes.includes("upstream-secret"))).toBe(false);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("the gateway and its keys", () => {
  test.each([
    [{ authorization: "Bearer KEY" }, 200],
    [{ authorization: "bearer   KEY" }, 200],
    [{ "x-api-key": "KEY" }, 200],
    [{ "api-key": "KEY" }, 200],
    [{ "x-api-key": "sk-ant-of-the-provider", authorization: "Bearer KEY" }, 200],
    [{ authorization: "Bearer sk-of-the-provider", "x-api-key": "KEY" }, 200],
    [{ authorization: "KEY" }, 401],
    [{ authorization: "Basic KEY" }, 401],
    [{ authorization: "Bearer KEYx" }, 401],
    [{ "x-api-key": "KEY, KEY" }, 401],
    [{}, 401],
  ])("%j: %d", async (shown, status) => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const headers = Object.fromEntries(
      Object.entries(shown).map(([name, text]) => [name, text.replaceAll("KEY", at.secret)]),
    );
    const body = JSON.stringify(ASK);
    const answer = await fetch(`${at.gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
    expect(answer.status).toBe(status);
    expect(at.model.count).toBe(status === 200 ? 1 : 0);
    expect(JSON.stringify(at.model.requests[0]?.headers ?? {})).not.toMatch(/bursar_|of-the-provider/);
  });

  test("a key that is revoked or has expired is taken no more, within a second", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    await using at = await opened(() => HELLO, { cost_usd: 1 }, { store });
    const status = async (secret: string) => (await at.post("/v1/chat/completions", ASK, secret)).status;
    const expires = new Date(clock.now().instant + HOUR_MS);
    const { secret: expiring } = await at.gateway.keys.create({ budget: "team", expires });
    expect([await status(at.secret), await status(expiring)]).toEqual([200, 200]);
    await at.gateway.keys.revoke(at.key.id);
    clock.advance(1000);
    expect([await status(at.secret), await status(expiring)]).toEqual([401, 200]);
    clock.advance(HOUR_MS);
    expect(await status(expiring)).toBe(401);
  });

  test("each key pays from its own budget, and both from the one above", async () => {
    await using at = await opened(() => HELLO, { llm_tokens: 1000 });
    await at.gate.open("child", { parent: "team", scope: "shared", limits: { llm_tokens: 300 } });
    const { secret } = await at.gateway.keys.create({ budget: "child" });
    const answer = await at.post("/v1/chat/completions", ASK, secret);
    expect(answer.headers.get("x-bursar-budget")).toBe("child");
    expect(answer.headers.get("x-bursar-remaining-llm-tokens")).toBe("288");
    const above = await at.post("/v1/chat/completions", ASK);
    expect(above.headers.get("x-bursar-remaining-llm-tokens")).toBe("976");
    const headers = { authorization: `Bearer ${secret}` };
    const told = await fetch(`${at.gateway.url}/bursar/budget`, { headers });
    expect(await told.json()).toMatchObject({
      budget: "child",
      used: { llm_tokens: 12 },
      remaining: { llm_tokens: 288 },
    });
  });

  test("a key is told what is really left, which may be less above than in its own budget", async () => {
    await using at = await opened(() => HELLO, { steps: 1, cost_usd: 1 });
    await at.gate.open("child", { parent: "team", scope: "shared", limits: { llm_tokens: 300, steps: 9 } });
    const { secret } = await at.gateway.keys.create({ budget: "child" });
    expect((await at.post("/v1/chat/completions", ASK, secret)).status).toBe(200);
    const headers = { authorization: `Bearer ${secret}` };
    const told = await (await fetch(`${at.gateway.url}/bursar/budget`, { headers })).json();
    expect(told).toMatchObject({
      budget: "child",
      limits: { llm_tokens: 300, steps: 9 },
      exhausted: ["steps"],
      remaining: { llm_tokens: 288, steps: 0 },
      limited_by: { steps: "team", cost_usd: "team" },
    });
  });

  test("a budget that has ended is told of, and is no fault of the gateway's", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    await at.store.apply([{ op: "end", budget: "team" }]);
    const answer = await at.post("/v1/chat/completions", ASK);
    const message = expect.stringContaining(
      "has ended; it takes no calls; ask whoever runs the gateway for another key",
    );
    expect([answer.status, await answer.json()]).toMatchObject([402, { error: { code: "no_budget", message } }]);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(at.model.count).toBe(0);
  });
});

describe("the budget of those who show no key", () => {
  async function open() {
    const store = new MemoryStore();
    const gate = new Gate({ store });
    await gate.open("house", { limits: { cost_usd: 1 }, scope: "shared" });
    const purse = { gate, store, budget: "house", chain: "house" };
    return opened(() => HELLO, { cost_usd: 1 }, { store, budget: { purse } });
  }

  test("pays for programs of this machine, whatever they show", async () => {
    await using at = await open();
    const answer = await at.post("/v1/chat/completions", ASK, "sk-anything");
    expect(answer.headers.get("x-bursar-budget")).toBe("house");
    const own = await at.post("/v1/chat/completions", ASK);
    expect(own.headers.get("x-bursar-budget")).toBe("team");
  });

  test("is no way in for a key that was revoked", async () => {
    await using at = await open();
    await at.gateway.keys.revoke(at.key.id);
    expect((await at.post("/v1/chat/completions", ASK)).status).toBe(401);
    expect((await at.post("/v1/chat/completions", ASK, "bursar_made_up")).status).toBe(401);
  });

  test("does not pay for web pages, whose requests come from this machine too", async () => {
    await using at = await open();
    const post = (headers: Record<string, string>) =>
      fetch(`${at.gateway.url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(ASK) });
    const page = await post({ origin: "https://evil.example", "content-type": "text/plain" });
    expect([page.status, await page.json()]).toMatchObject([403, { error: { code: "key_required" } }]);
    const rebound = ["Host: rebound.example:8787", "Connection: close", "Content-Length: 0"];
    expect((await askRaw(at.gateway.url, written("POST /v1/chat/completions", rebound))).status).toBe(403);
    expect(at.model.count).toBe(0);
    const keyed = await post({ origin: "https://our.example", authorization: `Bearer ${at.secret}` });
    expect(keyed.status).toBe(200);
  });

  test("is not offered to other machines", async () => {
    const store = new MemoryStore();
    using gate = new Gate({ store });
    const purse = { gate, store, budget: "house", chain: "house" };
    await expect(opened([], {}, { store, budget: { purse }, host: "0.0.0.0" })).rejects.toThrow(/give clients keys/);
  });
});
