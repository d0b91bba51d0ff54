import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { openGateway } from "../../src/gateway/gateway.js";
import { BudgetExceededError } from "../../src/models/meter/budget-exceeded-error.js";
import { AnnouncedStore } from "../../src/runs/announced-store.js";
import { openBursar } from "../../src/runs/bursar.js";
import { Webhook } from "../../src/runs/webhook.js";
import { opened } from "./opened.js";

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const ASK = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Hi" }], max_tokens: 50 };
const ADA = { name: "ada", role: "operator" } as const;
const POLICIES = { steps: "approval_required" } as const;

test("a request for approval is announced once, whoever of two gateways is asked, and so is the decision", async () => {
  const told: { event: string; approval: { id: string } }[] = [];
  const post: typeof fetch = async (_url, init) => {
    told.push(JSON.parse(String(init?.body)));
    return new Response(null);
  };
  const webhook = () => new Webhook({ url: "https://desk.example", secret: "a-secret-of-the-webhook", fetch: post });
  await using at = await opened(() => HELLO, { steps: 1 }, { policies: POLICIES, webhook: webhook() });
  await using other = await openGateway({
    store: at.store,
    upstreams: [{ name: "provider", url: at.model.url }],
    webhook: webhook(),
  });
  await at.post("/v1/chat/completions", ASK);
  const headers = { authorization: `Bearer ${at.secret}` };
  const init = { method: "POST", headers, body: JSON.stringify(ASK) };
  const answers = await Promise.all(
    [at.gateway, other, at.gateway, other].map(({ url }) => fetch(`${url}/v1/chat/completions`, init)),
  );
  expect(answers.map(({ status }) => status)).toEqual([402, 402, 402, 402]);
  const [{ approval } = { approval: { id: "" } }] = told;
  const hook = webhook();
  // The same store with the same webhook announces once, however often it is wrapped.
  const store = AnnouncedStore.over(AnnouncedStore.over(at.store, hook), hook);
  await openBursar({ store, webhook: hook }).decide(approval.id, "approve", { by: ADA, extensions: { steps: 1 } });
  expect(told.map(({ event }) => event)).toEqual(["approval.requested", "approval.decided"]);
  expect(new Set(told.map(({ approval: { id } }) => id)).size).toBe(1);
});

async function scene() {
  const at = await opened(() => HELLO, { steps: 1 }, { policies: POLICIES });
  const bursar = openBursar({ store: at.store });
  const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.secret });
  const refusal = async () => {
    const error = await client.chat.completions.create(ASK).catch((each: unknown) => each);
    const report = BudgetExceededError.from(error)?.report;
    if (report === undefined) throw new Error("it was not refused");
    return report;
  };
  const look = async (url: string | undefined, secret = at.secret) => {
    const answer = await fetch(url ?? "", { headers: { authorization: `Bearer ${secret}` } });
    return { status: answer.status, said: (await answer.json()) as Readonly<Record<string, unknown>> };
  };
  await client.chat.completions.create(ASK);
  return { ...at, bursar, client, refusal, look, [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() };
}

describe("a budget that a person may extend", () => {
  test("refuses with the id and the address of a request, and the same call passes when it was approved", async () => {
    await using at = await scene();
    const report = await at.refusal();
    expect(report).toMatchObject({ code: "approval_required", scope: "team", dimension: "steps", limit: 1, used: 1 });
    const { approval_id = "", approval_url } = report;
    expect(approval_url).toBe(`${at.gateway.url}/bursar/approvals/${approval_id}`);
    expect(await at.look(approval_url)).toMatchObject({
      status: 200,
      said: {
        status: "pending",
        budget: "team",
        held: {},
        needs: { steps: 1 },
        left: { steps: 0 },
        least_extension: { steps: 1 },
        message: "The next model call may need up to 1 call; nothing is left.",
      },
    });
    expect(at.model.count).toBe(1);
    await at.bursar.decide(approval_id, "approve", { by: ADA, extensions: { steps: 1 } });
    expect(await at.look(approval_url)).toMatchObject({ said: { status: "approved", decision: { by: "ada" } } });
    await at.client.chat.completions.create(ASK);
    expect(at.model.count).toBe(2);
    const again = await at.refusal();
    // What was granted is used up, and that is another request.
    expect(again).toMatchObject({ code: "approval_required" });
    expect(again.approval_id).not.toBe(approval_id);
  });

  test("is asked for once, however often and by however many at once it is tried", async () => {
    await using at = await scene();
    const reports = await Promise.all(Array.from({ length: 20 }, () => at.refusal()));
    expect(new Set(reports.map(({ approval_id }) => approval_id)).size).toBe(1);
    const pending: string[] = [];
    for await (const { id, action } of at.bursar.approvals()) {
      pending.push(id);
      // As whoever answers knows the key.
      expect(action).toMatchObject({ key: "test" });
    }
    expect(pending).toEqual([reports[0]?.approval_id]);
    expect(at.model.count).toBe(1);
  });

  test("stays as it is when a person says no, and may be asked for again", async () => {
    await using at = await scene();
    const { approval_id = "", approval_url } = await at.refusal();
    await at.bursar.decide(approval_id, "deny", { by: ADA, reason: "not today" });
    expect(await at.look(approval_url)).toMatchObject({
      said: { status: "denied", decision: { reason: "not today" } },
    });
    expect((await at.refusal()).approval_id).not.toBe(approval_id);
    expect(at.model.count).toBe(1);
  });

  test("shows its requests to nobody else's key", async () => {
    await using at = await scene();
    const { approval_url } = await at.refusal();
    await at.gate.open("other", { limits: { steps: 1 }, scope: "shared" });
    const { secret } = await at.gateway.keys.create({ budget: "other" });
    expect(await at.look(approval_url, secret)).toMatchObject({ status: 404 });
    expect(await at.look(approval_url, "sk-none")).toMatchObject({ status: 401 });
    for (const path of ["%zz", "..%2f..", "none", "a/b"]) {
      expect(await at.look(`${at.gateway.url}/bursar/approvals/${path}`)).toMatchObject({ status: 404 });
    }
  });

  test("is asked for as soon as a call does not fit, and not only when nothing at all is left", async () => {
    const policies = { cost_usd: "approval_required" } as const;
    await using at = await opened(() => HELLO, { cost_usd: 0.0001 }, { policies });
    const bursar = openBursar({ store: at.store });
    const refused = await at.post("/v1/chat/completions", ASK);
    const { error } = (await refused.json()) as { error: { code: string; bursar: { approval_id: string } } };
    expect([refused.status, error]).toMatchObject([
      402,
      { code: "approval_required", bursar: { refusal: "too_large", hint: expect.stringContaining("approve") } },
    ]);
    await bursar.decide(error.bursar.approval_id, "approve", { by: ADA, extensions: { cost_usd: 1 } });
    expect((await at.post("/v1/chat/completions", ASK)).status).toBe(200);
  });

  test("is enough for the same call when it is given as suggested", async () => {
    const policies = { llm_tokens: "approval_required" } as const;
    await using at = await opened(() => HELLO, { llm_tokens: 10 }, { policies });
    const refused = await at.post("/v1/chat/completions", ASK);
    const { error } = (await refused.json()) as { error: { bursar: { approval_id: string } } };
    await openBursar({ store: at.store }).decide(error.bursar.approval_id, "approve", { by: ADA });
    expect((await at.post("/v1/chat/completions", ASK)).status).toBe(200);
  });

  test("says where people answer, if that is somewhere else", async () => {
    const approval_url = (id: string) => `https://desk.example/${id}`;
    await using at = await opened(() => HELLO, { steps: 0 }, { policies: POLICIES, approval_url });
    const answer = await at.post("/v1/chat/completions", ASK);
    const { error } = (await answer.json()) as { error: { bursar: { approval_id: string; approval_url: string } } };
    expect(error.bursar.approval_url).toBe(`https://desk.example/${error.bursar.approval_id}`);
  });
});
