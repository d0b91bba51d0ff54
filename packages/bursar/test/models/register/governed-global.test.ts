import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { governedGlobal } from "../../../src/models/register/governed-global.js";
import { Passage } from "../../../src/models/register/passage.js";
import { Providers } from "../../../src/models/register/providers.js";
import { Tally } from "../../../src/models/register/tally.js";
import { UnderWay } from "../../../src/models/register/under-way.js";

const ANSWER = {
  choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

const BODY = JSON.stringify({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "Hello." }] });

async function* pieces() {
  for (const piece of BODY.match(/.{1,9}/g) ?? []) yield Buffer.from(piece);
}

test.each([
  ["a blob", () => new Blob([BODY])],
  ["a stream", () => new Blob([BODY]).stream()],
  ["an iterable", () => pieces() as unknown as ReadableStream],
] as const)("a model call to a server that nobody knows is paid for: %s", async (_, bodyOf) => {
  await using server = await openServer();
  const prices = { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };
  const about = {
    providers: new Providers({}),
    tally: new Tally(),
    under_way: new UnderWay(),
    meter: { prices },
    passage: new Passage(),
  };
  const send = governedGlobal(fetch, about);
  const post = (path: string, body: RequestInit["body"]) =>
    send(server.url + path, { method: "POST", body: body ?? null, duplex: "half" } as RequestInit);
  await withBudget({ steps: 1, network_egress_bytes: 10_000 }, async (budget) => {
    expect((await post("/v1/messages", bodyOf())).status).toBe(200);
    const { used } = await budget.state();
    expect(used.steps).toBe(1);
    expect(Number(used.network_egress_bytes)).toBeGreaterThanOrEqual(BODY.length);
    expect((await post("/v1/messages", bodyOf())).status).toBe(402);
    // What is no model's business goes out as it is.
    expect((await post("/channels/7/messages", new Blob(["Hello."]).stream())).status).toBe(200);
  });
  expect(server.bodies.map((body) => body.length)).toEqual([BODY.length, "Hello.".length]);
});

test.each([
  ["is governed", BODY],
  ["is not", JSON.stringify({ content: "Hello." })],
])("a request object that %s has the headers that were given beside it", async (_, body) => {
  await using server = await openServer();
  const prices = { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };
  const about = {
    providers: new Providers({}),
    tally: new Tally(),
    under_way: new UnderWay(),
    meter: { prices },
    passage: new Passage(),
  };
  const request = new Request(`${server.url}/v1/messages`, { method: "POST", body });
  const init = { headers: { authorization: "Bearer one" } };
  await withBudget({ steps: 1 }, () => governedGlobal(fetch, about)(request, init));
  expect(server.received[0]?.authorization).toBe("Bearer one");
  expect(server.bodies[0]).toContain("Hello.");
});

/** A server that remembers which headers and bodies it was sent. */
async function openServer() {
  const received: IncomingHttpHeaders[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    received.push(request.headers);
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      bodies.push(Buffer.concat(pieces).toString());
      response.end(JSON.stringify(ANSWER));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    received,
    bodies,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.each([
  ["a request to anybody", "/things", {}],
  ["one that only looks", "/v1/messages", null],
  ["a model call", "/v1/chat/completions", { messages: [{ role: "user", content: "Hello." }], max_tokens: 5 }],
  ["a call to a server that nobody knows", "/v1/embeddings", { input: "Hello." }],
])("%s has the headers that were given with it, whatever becomes of them later", async (_, path, asked) => {
  await using server = await openServer();
  const prices = { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };
  const about = {
    providers: new Providers({}),
    tally: new Tally(),
    under_way: new UnderWay(),
    meter: { prices },
    passage: new Passage(),
  };
  const send = governedGlobal(fetch, about);
  const method = asked === null ? "GET" : "POST";
  const body = asked === null ? null : JSON.stringify({ model: "m", ...asked });
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
