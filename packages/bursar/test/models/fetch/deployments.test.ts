import { expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { type GovernedFetchOptions, governedFetch } from "../../../src/models/fetch/governed-fetch.js";

const ANSWER = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "gpt-4o-mini-2024-07-18",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 100_000, completion_tokens: 1000, total_tokens: 101_000 },
};

/** Sends one request to a provider that gives the same answer to all, and tells what was sent and what it cost. */
async function asked(url: string, body: object, options: GovernedFetchOptions = {}, answer: object = ANSWER) {
  const sent: Record<string, unknown>[] = [];
  const provider = async (_: unknown, init?: RequestInit) => {
    sent.push(JSON.parse(String(init?.body)) as Record<string, unknown>);
    return Response.json(answer);
  };
  const governed = governedFetch({ ...options, fetch: provider as typeof fetch });
  return withBudget({ cost_usd: 1000 }, async (budget) => {
    const text = JSON.stringify({ max_tokens: 1000, messages: [{ role: "user", content: "Hello?" }], ...body });
    const response = await governed(url, { method: "POST", body: text });
    const said = (await response.json()) as { error?: { message: string; hint?: string } };
    const { used } = await budget.state();
    return { status: response.status, said: JSON.stringify(said), sent, cost: used.cost_usd ?? 0 };
  });
}

const HOST = "https://acme.openai.azure.com";
const at = (name: string) => `${HOST}/openai/deployments/${name}/chat/completions?api-version=2024-10-21`;
const O1_PRO = { ...ANSWER, model: "o1-pro-2025-03-19" };
/** 100,000 tokens at $150 for a million, and 1,000 at $600. */
const O1_PRO_COST = 15.6;
const MINI_COST = 0.0156;

test.each([
  ["the deployment in the path", at("o1-pro")],
  ["in capitals", at("O1-Pro")],
  ["encoded", at("o1%2Dpro")],
  ["behind an encoded slash", `${HOST}/openai/deployments%2Fo1-pro/chat/completions`],
  ["behind encoded slashes alone", `${HOST}/openai%2fdeployments%2fo1-pro%2fchat%2fcompletions`],
  ["behind an encoded backslash", `${HOST}/openai/deployments%5Co1-pro/chat/completions`],
  ["behind encoded dots", at("gpt-4o-mini%2F..%2Fo1-pro")],
  ["behind a parameter of the path", `${HOST}/openai/deployments;v=1/o1-pro/chat/completions`],
  ["with slashes doubled", `${HOST}//openai//deployments//o1-pro//chat//completions`],
  ["behind another path", "https://gateway.example/azure/openai/deployments/o1-pro/chat/completions"],
  ["as an engine", "https://gateway.example/engines/o1-pro/chat/completions"],
  ["behind Cloudflare", "https://gateway.ai.cloudflare.com/v1/a/g/azure-openai/acme/o1-pro/chat/completions"],
])("the model in the path is priced, whatever the body says: %s", async (_, url) => {
  // The answer names the cheap model too, so that the path alone can raise the price.
  const { status, cost, sent } = await asked(url, { model: "gpt-4o-mini" });
  expect(status).toBe(200);
  expect(cost).toBeCloseTo(O1_PRO_COST, 9);
  expect(sent[0]?.model).toBe("gpt-4o-mini");
});

test("a body without a model is priced by the deployment in the path", async () => {
  const { cost, sent } = await asked(at("gpt-4o-mini"), {});
  expect(cost).toBeCloseTo(MINI_COST, 9);
  expect(sent[0]).not.toHaveProperty("model");
});

test.each([
  ["by its name", { "chat-prod": "o1-pro" }],
  ["in another case", { "Chat-Prod": "o1-pro" }],
  ["with its host", { "acme.openai.azure.com/chat-prod": "o1-pro", "chat-prod": "gpt-4o-mini" }],
])("a deployment runs the model that it is mapped to: %s", async (_, deployments) => {
  const { cost } = await asked(at("chat-prod"), { model: "gpt-4o-mini" }, { deployments }, O1_PRO);
  expect(cost).toBeCloseTo(O1_PRO_COST, 9);
});

test("a deployment that is mapped to no model is not called, and the error says what to set", async () => {
  const { status, said, sent } = await asked(at("chat-prod"), { model: "gpt-4o-mini" });
  expect(status).toBe(402);
  expect(sent).toHaveLength(0);
  for (const word of ["chat-prod", "deployments: {", "--deployment chat-prod=", "BURSAR_DEPLOYMENTS"]) {
    expect(said.replaceAll("\\", "")).toContain(word);
  }
});

test("on Azure's newer path the model of the body is the deployment", async () => {
  const url = `${HOST}/openai/v1/chat/completions`;
  const { cost } = await asked(url, { model: "chat-prod" }, { deployments: { "chat-prod": "o1-pro" } }, O1_PRO);
  expect(cost).toBeCloseTo(O1_PRO_COST, 9);
  expect((await asked(url, { model: "chat-prod" })).said).toContain("--deployment chat-prod=");
});

test("at OpenAI itself a name is a model, whatever deployments are called", async () => {
  const url = "https://api.openai.com/v1/chat/completions";
  const { cost } = await asked(url, { model: "o1-pro" }, { deployments: { "o1-pro": "gpt-4o-mini" } }, O1_PRO);
  expect(cost).toBeCloseTo(O1_PRO_COST, 9);
});

test("deployments that make no sense are refused at once", () => {
  expect(() => governedFetch({ deployments: { a: "" } })).toThrow("deployments.a is");
  expect(() => governedFetch({ deployments: { a: "b", A: "c" } })).toThrow("twice");
  expect(() => governedFetch({ deployments: "gpt-4o" as never })).toThrow("a model for each deployment");
});

const GROK = { ...ANSWER, model: "grok-4.3" };
const NEWER = { ...ANSWER, model: "gpt-5.4" };
test.each([
  ["eu.api.openai.com", "api.openai.com", "gpt-5.4", NEWER, 1.1, "default"],
  ["us.api.openai.com", "api.openai.com", "gpt-5.4", NEWER, 1.1, "default"],
  ["jp.api.openai.com", "api.openai.com", "gpt-5.4", NEWER, 1.1, "default"],
  // Models from before March 2026 cost the same everywhere.
  ["eu.api.openai.com", "api.openai.com", "gpt-4o-mini", ANSWER, 1, "default"],
  ["us.api.x.ai", "api.x.ai", "grok-4.3", GROK, 1.1, undefined],
  ["eu-west-1.api.x.ai", "api.x.ai", "grok-4.3", GROK, 1.1, undefined],
])("%s has its surcharge over %s for %s", async (region, home, model, answer, factor, tier) => {
  const there = await asked(`https://${region}/v1/chat/completions`, { model }, {}, answer);
  const here = await asked(`https://${home}/v1/chat/completions`, { model }, {}, answer);
  expect(here.status).toBe(200);
  expect(there.cost / here.cost).toBeCloseTo(factor, 9);
  expect(there.sent[0]?.service_tier).toBe(tier);
});
