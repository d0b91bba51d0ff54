import { expect, test } from "vitest";
import { openGateway } from "../../src/gateway/gateway.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { opened } from "./opened.js";
import { openServer } from "./server.js";

const ASK = { model: "gpt-4o", messages: [{ role: "user", content: "Hi" }], max_tokens: 50 };
const ANSWER = { id: "1", choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } };

test("parameters of an upstream's address go with every request, and clients change none of them", async () => {
  const asked: string[] = [];
  await using provider = await openServer((incoming, response) => {
    asked.push(incoming.url ?? "");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(ANSWER));
  });
  const upstreams = [{ name: "azure", url: `${provider.url}?api-version=2024-10-21&tenant=a`, key: "upstream-secret" }];
  await using at = await opened([], { cost_usd: 10 }, { upstreams });
  for (const search of ["", "?api-version=2020-01-01&beta=true", "?tenant=b"]) {
    const answer = await at.post(`/v1/chat/completions${search}`, ASK);
    expect(await answer.json()).toEqual(ANSWER);
  }
  const authorization = `Bearer ${at.secret}`;
  await (await fetch(`${at.gateway.url}/v1/models`, { headers: { authorization } })).text();
  const own = "api-version=2024-10-21&tenant=a";
  const path = `/v1/chat/completions?${own}`;
  expect(asked).toEqual([path, `${path}&beta=true`, path, `/v1/models?${own}`]);
});

test.each([
  ["https://api.example/v1?key=sk-1234567890", "has a key in ?key"],
  ["https://api.example/v1?API-Key=sk-1234567890", "has a key in ?API-Key"],
  ["https://:sk-1234567890@api.example/v1", "allowed: a base address"],
])("an address with a key in it is refused, because addresses are shown: %s", async (url, said) => {
  const opening = openGateway({ store: new MemoryStore(), upstreams: [{ name: "up", url }] });
  await expect(opening).rejects.toThrow(said);
  await expect(opening).rejects.not.toThrow("1234567890");
});
