import { openStore } from "bursar";
import { LeasingStore } from "bursar/lease";
import { expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { parseLine } from "../../../src/core/chain/link.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import type { Store } from "../../../src/ports/store.js";
import { bothEngines, checked } from "../../stores/housed.js";
import { openRestating } from "./restating-server.js";

const { sqlite, server } = await bothEngines();
const CHAT = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello?" }], max_tokens: 500 };

/** Asks some models that answer with something dearer, one of them more than is left. */
async function overdraw(store: Store): Promise<string> {
  await using provider = await openRestating({
    text: (text) => text.replace('"total_tokens":120', '"total_tokens":120,"cost":0.4'),
  });
  const budget = await openBudget({ cost_usd: 1, llm_tokens: null }, { store });
  const send = governedFetch();
  const post = (body: object) =>
    budget.run(() => send(`${provider.url}/chat/completions`, { method: "POST", body: JSON.stringify(body) }));
  for (const stream of [false, true]) await (await post({ ...CHAT, stream })).text();
  provider.restate({
    text: (text) => text.replace('"gpt-4o-mini"', '"in-house-7"').replace(/"usage":\{.*/s, '"usage":{"cost":7}}'),
  });
  await (await post({ ...CHAT, model: "claude-haiku-4-5" })).text();
  await budget.end();
  expect((await store.budget(budget.id))?.used.cost_usd).toBeGreaterThan(800_000_000);
  return budget.id;
}

test.each([
  ["SQLite", sqlite],
  ["PostgreSQL", server],
] as const)("a check of a %s store finds nothing wrong with dearer answers", async (_name, engine) => {
  const url = engine.fresh();
  await using store = await openStore(url);
  const budget = await overdraw(store);
  const links = [];
  for await (const line of store.chain(budget)) links.push(parseLine(line));
  const told = links.filter(({ action_type }) => action_type === "AnswerDearer");
  expect(told.length).toBeGreaterThanOrEqual(2);
  for (const { cause } of told) expect(links.find(({ id }) => id === cause)?.event).toBe("Consumption");
  await store[Symbol.asyncDispose]();
  expect(await checked(url)).toMatchObject({ ok: true, defects: [] });
});

test("a call that is made from a lease is told of in the chain as well", async () => {
  const url = sqlite.fresh();
  await using store = await openStore(url);
  const tenant = await openBudget({ cost_usd: 5, llm_tokens: null }, { store });
  await using provider = await openRestating({
    text: (text) => text.replace('"total_tokens":120', '"total_tokens":120,"cost":0.4'),
  });
  const leasing = await LeasingStore.open({ store, budgets: [tenant.id], name: "worker" });
  const leased = await openBudget({ cost_usd: 1 }, { store: leasing, parent: tenant.id });
  const send = governedFetch();
  const body = JSON.stringify(CHAT);
  const response = await leased.run(() => send(`${provider.url}/chat/completions`, { method: "POST", body }));
  expect(response.status).toBe(200);
  await leased.end();
  await leasing[Symbol.asyncDispose]();
  const links = [];
  for await (const line of store.chain(tenant.id)) links.push(parseLine(line));
  expect(links.filter(({ action_type }) => action_type === "AnswerDearer")).toHaveLength(1);
});
