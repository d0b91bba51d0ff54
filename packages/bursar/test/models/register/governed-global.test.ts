import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { governedGlobal } from "../../../src/models/register/governed-global.js";
import { Providers } from "../../../src/models/register/providers.js";
import { Tally } from "../../../src/models/register/tally.js";
import { UnderWay } from "../../../src/models/register/under-way.js";

const ANSWER = {
  choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

/** A server that remembers which headers it was sent. */
async function openServer() {
  const received: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    received.push(request.headers);
    request.resume().on("end", () => response.end(JSON.stringify(ANSWER)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.each([
  ["a request to anybody", "/things", "POST"],
  ["one that only looks", "/v1/messages", "GET"],
  ["a model call", "/v1/chat/completions", "POST"],
  ["a call to a server that nobody knows", "/v1/embeddings", "POST"],
])("%s has the headers that were given with it, whatever becomes of them later", async (_, path, method) => {
  await using server = await openServer();
  const prices = { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };
  const about = { providers: new Providers({}), tally: new Tally(), under_way: new UnderWay(), meter: { prices } };
  const send = governedGlobal(fetch, about);
  const messages = [{ role: "user", content: "Hello." }];
  const body = method === "GET" ? null : JSON.stringify({ model: "m", input: "Hello.", messages, max_tokens: 5 });
  const headers = new Headers();
  await withBudget({ steps: 5 }, () =>
    Promise.all(
      ["Bearer one", "Bearer two"].map((key) => {
        headers.set("authorization", key);
        return send(server.url + path, { method, body, headers });
      }),
    ),
  );
  expect(server.received.map(({ authorization }) => authorization).sort()).toEqual(["Bearer one", "Bearer two"]);
});
