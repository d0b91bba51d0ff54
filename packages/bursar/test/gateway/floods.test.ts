import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import { readAmounts } from "../../src/core/input.js";
import type { Operation } from "../../src/core/operation.js";
import { mountGateway } from "../../src/gateway/gateway.js";
import type { Outcomes } from "../../src/ports/store.js";
import { openBursar } from "../../src/runs/bursar.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { type OpenedOptions, opened } from "./opened.js";
import { openRaw, readRaw, written } from "./raw.js";
import { until } from "./until.js";

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const ASK = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Hi" }], max_tokens: 50 };
const PATH = "/v1/chat/completions";
const LENGTH = 30_000_000;
/** Nothing of the body follows. */
const head = (secret: string, path = PATH) =>
  written(`POST ${path}`, ["Host: a", `Authorization: Bearer ${secret}`, `Content-Length: ${LENGTH}`]);

type At = Awaited<ReturnType<typeof opened>>;

/** What is answered to the head of a request whose body is never sent. */
async function askUnsent(url: string, secret: string, path = PATH) {
  using connection = await openRaw(url);
  connection.write(head(secret, path));
  await until("it is answered", () => /\r\n\r\n\{.*\}$/s.test(connection.heard()));
  const { status, headers, body } = readRaw(connection.heard());
  return { status, headers, error: JSON.parse(body).error };
}

async function linksOf(store: At["store"], budget = "team") {
  const links: { action_type: string; event?: string; data: Record<string, never> }[] = [];
  for await (const line of store.chain(budget)) links.push(JSON.parse(line));
  return links;
}

async function refusalsOf(store: At["store"]) {
  const links = await linksOf(store);
  return links.filter(({ action_type }) => /^Steps?Refused$/.test(action_type));
}

/** A gateway whose key is used up to the last. */
async function used(options: OpenedOptions = {}, limits: Parameters<typeof opened>[1] = { steps: 1 }) {
  const at = await opened(() => HELLO, limits, options);
  const first = await at.post(PATH, ASK);
  await first.text();
  if (first.status !== 200) throw new Error(`the first call is answered with ${first.status}`);
  return at;
}

describe("a key that is used up", () => {
  test.each([["steps", { steps: 1 }] as const, ["llm_tokens", { llm_tokens: 120 }] as const])(
    "(%s) is refused before a byte of the body has come, which is not waited for",
    async (dimension, limits) => {
      const policies = { [dimension]: "hard_stop" } as const;
      await using at = await opened(() => HELLO, limits, { policies });
      const used = readAmounts(limits, at.store.dimensions);
      await at.store.apply([{ op: "charge", budget: "team", call: "all", used }]);
      const { status, headers, error } = await askUnsent(at.gateway.url, at.secret);
      expect([status, error]).toMatchObject([402, { code: "budget_exceeded", bursar: { dimension } }]);
      expect(headers).toMatch(/connection: close/i);
      // It is on record with what it is about, and so is the exhaustion.
      expect(await refusalsOf(at.store)).toMatchObject([{ action_type: "StepRefused", data: { budget: "team" } }]);
      expect((await linksOf(at.store)).filter(({ event }) => event === "Exhausted")).toHaveLength(1);
      expect(await at.held()).toEqual({});
    },
  );

  test("is refused without its body being parsed", async () => {
    await using at = await used();
    const refused = await at.post(PATH, "no JSON at all");
    expect([refused.status, await refused.json()]).toMatchObject([402, { error: { code: "budget_exceeded" } }]);
  });

  test("is refused where a budget above it is used up", async () => {
    await using at = await opened(() => HELLO, { steps: 1 });
    await at.gate.open("child", { parent: "team", scope: "shared", limits: { steps: 5 } });
    const { secret } = await at.gateway.keys.create({ budget: "child" });
    await (await at.post(PATH, ASK)).text();
    expect(await askUnsent(at.gateway.url, secret)).toMatchObject({
      status: 402,
      error: { bursar: { scope: "team" } },
    });
  });

  test("is served where the policy only warns", async () => {
    await using at = await used({ policies: { steps: "soft_warn" } });
    expect((await at.post(PATH, ASK)).status).toBe(200);
  });

  test("counts no tokens", async () => {
    await using at = await used();
    const path = "/v1/messages/count_tokens";
    expect(await askUnsent(at.gateway.url, at.secret, path)).toMatchObject({ status: 402 });
    const answer = await at.post(path, { model: "claude-sonnet-4-5", messages: ASK.messages });
    expect([answer.status, at.model.countingRequests.length]).toEqual([402, 0]);
    // The lists of models, which SDKs look at, are still there.
    const headers = { authorization: `Bearer ${at.secret}` };
    expect((await fetch(`${at.gateway.url}/v1/models`, { headers })).status).toBe(200);
  });

  test("that a person may extend is read once, for what it needs, and answered unread with the same request from then on", async () => {
    await using at = await used({ policies: { steps: "approval_required" } });
    const first = await at.post(PATH, ASK);
    const { error } = (await first.json()) as { error: { code: string; bursar: { approval_id: string } } };
    expect([first.status, error.code]).toEqual([402, "approval_required"]);
    const { approval_id } = error.bursar;
    const unread = await askUnsent(at.gateway.url, at.secret);
    expect(unread).toMatchObject({ status: 402, error: { code: "approval_required", bursar: { approval_id } } });
    const bursar = openBursar({ store: at.store });
    await bursar.decide(approval_id, "approve", { by: { name: "ada", role: "operator" }, extensions: { steps: 1 } });
    expect((await at.post(PATH, ASK)).status).toBe(200);
    // Used up anew, it is another reason, which is read and on record again.
    const again = await at.post(PATH, ASK);
    expect([again.status, await again.json()]).toMatchObject([402, { error: { code: "approval_required" } }]);
    expect((await refusalsOf(at.store)).filter(({ action_type }) => action_type === "StepRefused")).toHaveLength(2);
  });

  test("leaves what a request for approval says of the calls that wait as it is, when it is refused unread", async () => {
    await using at = await opened(() => HELLO, { llm_tokens: 120 }, { policies: { llm_tokens: "approval_required" } });
    const charge = {
      op: "charge",
      budget: "team",
      call: "all",
      used: readAmounts({ llm_tokens: 120 }, at.store.dimensions),
    };
    await at.store.apply([charge as Operation]);
    const { error } = (await (await at.post(PATH, ASK)).json()) as { error: { bursar: { approval_id: string } } };
    const { approval_id } = error.bursar;
    const before = await at.store.document("approval", approval_id);
    expect((await askUnsent(at.gateway.url, at.secret)).error.bursar).toMatchObject({ approval_id });
    expect(await at.store.document("approval", approval_id)).toEqual(before);
    // One token more would let none of them go on.
    const answer = { by: { name: "ada", role: "operator" }, extensions: { llm_tokens: 1 } } as const;
    await expect(openBursar({ store: at.store }).decide(approval_id, "approve", answer)).rejects.toThrow(
      /add at least/,
    );
  });

  test("because its budget has ended is told so, unread", async () => {
    await using at = await used();
    await at.store.apply([{ op: "end", budget: "team" }]);
    expect(await askUnsent(at.gateway.url, at.secret)).toMatchObject({ status: 402, error: { code: "no_budget" } });
  });

  test("gets lists of models without a body being read that comes with the request", async () => {
    await using at = await used();
    using connection = await openRaw(at.gateway.url);
    connection.write(head(at.secret).replace(`POST ${PATH}`, "GET /v1/models"));
    await until("it is answered", () => connection.heard().includes("200 OK"));
  });

  test("ends its connection with a server of node:http: what comes behind its body is not served, nor charged", async () => {
    const store = new MemoryStore();
    await using at = await used({ store });
    await at.gate.open("other", { limits: { steps: 5 }, scope: "shared" });
    const { secret } = await at.gateway.keys.create({ budget: "other" });
    const upstreams = [{ name: "provider", url: at.model.url }];
    const gateway = await mountGateway({ store, upstreams, url: () => "http://127.0.0.1" });
    const server = createServer((incoming, response) => void gateway.handle(incoming, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A short one is read before the budget is looked at.
    const body = JSON.stringify({ ...ASK, user: "x".repeat(70_000) });
    const request = (key: string) =>
      written(`POST ${PATH}`, ["Host: a", `Authorization: Bearer ${key}`, `Content-Length: ${body.length}`]);
    using connection = await openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    connection.write(request(at.secret) + body.slice(0, 5));
    await until("it is answered", () => connection.heard().includes("402"));
    connection.write(body.slice(5) + request(secret) + body);
    expect(readRaw(await connection.closed)).toMatchObject({ status: 402, answers: 1 });
    server.close();
    await gateway.close({ within_ms: 0 });
    expect((await store.budget("other"))?.used).toEqual({});
    expect(at.model.count).toBe(1);
  });

  test("is answered unread by a server of node:http too, which hears the rest of the body", async () => {
    const store = new MemoryStore();
    await using at = await used({ store });
    const upstreams = [{ name: "provider", url: at.model.url }];
    const gateway = await mountGateway({ store, upstreams, url: () => "http://127.0.0.1" });
    const server = createServer((incoming, response) => void gateway.handle(incoming, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      expect(await askUnsent(url, at.secret)).toMatchObject({ status: 402, error: { code: "budget_exceeded" } });
      // A client that sends all of it before it reads finds its answer too.
      using connection = await openRaw(url);
      const body = Buffer.alloc(3_000_000, 0x20);
      const headers = ["Host: a", `Authorization: Bearer ${at.secret}`, `Content-Length: ${body.length}`];
      connection.socket.pause();
      connection.write(written(`POST ${PATH}`, headers));
      await new Promise<void>((resolve) => connection.socket.write(body, () => resolve()));
      connection.socket.resume();
      expect(readRaw(await connection.closed).status).toBe(402);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await gateway.close({ within_ms: 0 });
    }
  });
});

test.each([[undefined], ["bursar_made_up"]])("without a key that is taken (%s) no body is waited for", async (key) => {
  await using at = await opened([], { cost_usd: 1 });
  expect(await askUnsent(at.gateway.url, key ?? "")).toMatchObject({ status: 401 });
});

describe("a flood of refusals", () => {
  const refuse = async (at: At, times: number) => {
    const answers = await Promise.all(Array.from({ length: times }, () => at.post(PATH, ASK)));
    return answers.map(({ status }) => status);
  };

  test("writes one link at once, and one with their number a minute later", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    await using at = await used({ store, timer: clock });
    const before = clock.now().instant;
    expect(new Set(await refuse(at, 100))).toEqual(new Set([402]));
    expect(await refusalsOf(store)).toMatchObject([{ action_type: "StepRefused" }]);
    clock.advance(60_000);
    await until("they are counted", async () => (await refusalsOf(store)).length === 2);
    const [first, counted] = await refusalsOf(store);
    expect(counted).toMatchObject({
      action_type: "StepsRefused",
      data: { budget: "team", key_id: at.key.id, count: 99, decision: "stopped", finding: { dimension: "steps" } },
    });
    expect(counted?.data).toMatchObject({ first_step: first?.data.step_id, first: before, last: before });
    // One that goes on writes one a minute; after a minute of silence the next one is told of at once.
    await refuse(at, 10);
    clock.advance(60_000);
    await until("they are counted", async () => (await refusalsOf(store)).length === 3);
    clock.advance(60_000);
    await refuse(at, 2);
    const all = (await refusalsOf(store)).map(({ action_type, data }) => [action_type, data.count]);
    expect(all).toEqual([
      ["StepRefused", undefined],
      ["StepsRefused", 99],
      ["StepsRefused", 10],
      ["StepRefused", undefined],
    ]);
    expect(await verifyChain(store.chain("team"), { hash: sha256Hex })).toMatchObject({ ok: true });
  });

  test("of calls that are too large is one too, and what was counted is written when the gateway closes", async () => {
    const store = new MemoryStore();
    const at = await opened(() => HELLO, { cost_usd: 0.0001 }, { store });
    expect(new Set(await refuse(at, 50))).toEqual(new Set([402]));
    await at[Symbol.asyncDispose]();
    const all = (await refusalsOf(store)).map(({ action_type, data }) => [action_type, data.count]);
    expect(all).toEqual([
      ["StepRefused", undefined],
      ["StepsRefused", 49],
    ]);
  });

  test.each(["StepRefused", "StepsRefused"])("is counted on where the store did not take its %s", async (refused) => {
    const clock = new FakeClock();
    const store = new FailingStore({ clock });
    const failed: unknown[] = [];
    await using at = await used({ store, timer: clock, onError: (error) => void failed.push(error) });
    store.fails = refused;
    await refuse(at, 7);
    clock.advance(60_000);
    await until("it has failed", () => failed.length === 1);
    store.fails = null;
    await refuse(at, 2);
    await at.gateway.close();
    const counts = (await refusalsOf(store)).map(({ data }) => Number(data.count ?? 1));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(9);
  });

  test("of several keys and for several reasons is one for each of them", async () => {
    const store = new MemoryStore();
    const at = await opened(() => HELLO, { cost_usd: 10, llm_tokens: 1000 }, { store });
    const { secret } = await at.gateway.keys.create({ budget: "team", label: "other" });
    const large = { ...ASK, messages: [{ role: "user", content: "word ".repeat(2000) }] };
    for (let each = 0; each < 5; each++) {
      for (const key of [at.secret, secret]) expect((await at.post(PATH, large, key)).status).toBe(402);
    }
    await at[Symbol.asyncDispose]();
    const counted = (await refusalsOf(store)).filter(({ action_type }) => action_type === "StepsRefused");
    expect(counted.map(({ data }) => data.count)).toEqual([4, 4]);
    expect(new Set(counted.map(({ data }) => data.key_id)).size).toBe(2);
  });
});

/** A store that does not take links of one kind. */
class FailingStore extends MemoryStore {
  fails: string | null = null;

  override apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    const isTaken = operations.every((each) => each.op !== "record" || each.action.action_type !== this.fails);
    return isTaken ? super.apply(operations) : Promise.reject(new Error("the disk is full"));
  }
}

/** A store whose budgets are looked up only once it is let. */
class WaitingStore extends MemoryStore {
  looks = 0;
  private readonly waiting: (() => void)[] = [];
  private isOpen = false;

  override async path(budget: string) {
    this.looks++;
    if (!this.isOpen) await new Promise<void>((resolve) => void this.waiting.push(resolve));
    return super.path(budget);
  }

  open() {
    this.isOpen = true;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

describe("one key", () => {
  test.each(["of its own", "of node:http"])(
    "gets its calls back that are cut while its budget is looked up, with a server %s",
    async (kind) => {
      const store = new WaitingStore();
      await using at = await opened(() => HELLO, { cost_usd: 1 }, { store, calls_per_key: 2 });
      const upstreams = [{ name: "provider", url: at.model.url }];
      const mounted = await mountGateway({ store, upstreams, url: () => "http://127.0.0.1", calls_per_key: 2 });
      const server = createServer((incoming, response) => void mounted.handle(incoming, response));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const own = kind === "of its own";
      const url = own ? at.gateway.url : `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      for (const each of [1, 2]) {
        using connection = await openRaw(url);
        connection.write(`${head(at.secret)}{`);
        await until("its budget is looked up", () => store.looks === each);
      }
      const left = own
        ? () => at.connections()
        : () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
      await until("they are gone", async () => (await left()) === 0);
      store.open();
      const headers = { authorization: `Bearer ${at.secret}` };
      const answer = await fetch(`${url}${PATH}`, { method: "POST", headers, body: JSON.stringify(ASK) });
      expect(answer.status).toBe(200);
      await answer.text();
      server.closeAllConnections();
      server.close();
      // It waits for all that are under way.
      await mounted.close({ within_ms: 0 });
    },
  );

  const hanging = () => ({ kind: "half", text: "word ", usage: HELLO.usage, ending: "hang" }) as const;

  test("has no more calls under way than it may, and another one is served meanwhile", async () => {
    await using at = await opened(hanging, { cost_usd: 10 }, { calls_per_key: 3 });
    const leaving = new AbortController();
    const stream = { ...ASK, stream: true };
    const under = await Promise.all([1, 2, 3].map(() => at.post(PATH, stream, at.secret, { signal: leaving.signal })));
    expect(under.map(({ status }) => status)).toEqual([200, 200, 200]);
    const refused = await at.post(PATH, ASK);
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toMatchObject([
      429,
      "1",
      { error: { code: "too_many_calls" } },
    ]);
    const other = await at.gateway.keys.create({ budget: "team" });
    expect((await at.post(PATH, stream, other.secret, { signal: leaving.signal })).status).toBe(200);
    leaving.abort();
    await until("they are over", async () => Object.keys(await at.held()).length === 0);
    await until("it is served again", async () => {
      const again = new AbortController();
      const { status } = await at.post(PATH, stream, at.secret, { signal: again.signal });
      again.abort();
      return status === 200;
    });
  });

  test.each([true, false])("has no more bytes under way than it may (announced: %s)", async (announced) => {
    const options = { body_bytes: 100_000, body_bytes_per_key: 150_000 };
    await using at = await opened(() => HELLO, { cost_usd: 10 }, options);
    const body = JSON.stringify({ ...ASK, messages: [{ role: "user", content: "x".repeat(80_000) }] });
    const length = announced ? `Content-Length: ${body.length}` : "Transfer-Encoding: chunked";
    const request = written(`POST ${PATH}`, ["Host: a", `Authorization: Bearer ${at.secret}`, length]);
    const whole = announced ? body : `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    using first = await openRaw(at.gateway.url);
    first.write(request + whole.slice(0, 79_000));
    const taken = () => {
      const { requests } = at.gateway as unknown as {
        requests: { loads: { loads: Map<string, { body_bytes: number }> } };
      };
      return [...requests.loads.loads.values()][0]?.body_bytes ?? 0;
    };
    await until("most of it is there", () => taken() >= 78_000);
    using second = await openRaw(at.gateway.url);
    second.write(request + whole);
    await until("it is refused", () => second.heard().includes("too_many_bytes"));
    expect(readRaw(second.heard()).status).toBe(429);
    first.write(whole.slice(79_000));
    await until("the first is served", () => first.heard().includes("200 OK"));
    await until("all of it is given back", () => taken() === 0);
  });

  test("does not have one large body after the other read for nothing", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    await using at = await opened(() => HELLO, { cost_usd: 0.001 }, { store });
    const large = { ...ASK, messages: [{ role: "user", content: "x".repeat(6_000_000) }] };
    expect((await at.post(PATH, large)).status).toBe(402);
    const next = await askUnsent(at.gateway.url, at.secret);
    expect([next.status, next.error.code]).toEqual([429, "large_body_too_soon"]);
    expect(next.headers).toMatch(/retry-after: 2\r\n/);
    // What is small is read at once, and may fit.
    expect((await at.post(PATH, ASK)).status).toBe(200);
    clock.advance(2000);
    expect((await at.post(PATH, large)).status).toBe(402);
  });
});
