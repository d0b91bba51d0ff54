import { expect, test } from "vitest";
import type { Document } from "../../../src/core/document.js";
import { opened } from "../../gateway/opened.js";
import { answerOf } from "./scene.js";

const QUESTION = { model: "gpt-4o", max_tokens: 4096, messages: [{ role: "user", content: "300" }] };

async function sites(at: Awaited<ReturnType<typeof opened>>): Promise<readonly Document[]> {
  const found: Document[] = [];
  for await (const document of at.store.documents("history", "site")) found.push(document);
  return found;
}

test("a gateway keeps what it has learned when it closes, by what clients say and apart for each key's budget", async () => {
  await using at = await opened(({ text, max_tokens }) => answerOf(text, max_tokens), { llm_tokens: 1_000_000 });
  await at.gate.open("other", { limits: { llm_tokens: 1_000_000 }, scope: "shared" });
  const { secret: other } = await at.gateway.keys.create({ budget: "other", label: "other" });
  const ask = (key: string, site: string) =>
    fetch(`${at.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}`, "x-bursar-site": site },
      body: JSON.stringify(QUESTION),
    }).then((response) => response.text());
  for (let made = 0; made < 20; made++) {
    await ask(at.secret, "summaries");
    await ask(other, "summaries");
  }
  await ask(at.secret, "too few");
  expect(await sites(at)).toEqual([]);

  await at.gateway.close();

  const kept = (await sites(at)).flatMap(({ body }) => body.sites as readonly object[]);
  expect(kept).toMatchObject(
    Array.from({ length: 2 }, () => ({ model: "gpt-4o", outputs: Array.from({ length: 20 }, () => 300) })),
  );
  for (const { headers } of at.model.requests) expect(Object.keys(headers).join()).not.toMatch(/bursar/);
});
