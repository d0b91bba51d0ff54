import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { openScriptedModel } from "bursar/testing";
import { expect, test } from "vitest";
import { runProgram } from "./program.js";

const FREE = [
  "a look",
  "http elsewhere",
  "undici elsewhere",
  "fetch elsewhere",
  "a redirect elsewhere",
  "a look over http2",
  "http2 elsewhere",
];

test("no request of Node's own clients reaches a provider past the budget, and all others pass", async () => {
  await using model = await openScriptedModel({ script: () => ({ kind: "text", text: "Hi." }) });
  const seen: string[] = [];
  const room = createServer((request, response) => {
    const to = new URL(request.url ?? "", "http://room").searchParams.get("to");
    // It never answers, and keeps its connection.
    if (request.url === "/hang") return;
    seen.push(request.url ?? "");
    request.resume();
    response.writeHead(to === null ? 200 : 307, to === null ? {} : { location: to }).end();
  });
  const seenHttp2: string[] = [];
  const roomHttp2 = createHttp2Server((request, response) => {
    seenHttp2.push(`${request.method} ${request.url}`);
    response.end();
  });
  await new Promise<void>((resolve) => room.listen(0, "127.0.0.1", resolve));
  await new Promise<void>((resolve) => roomHttp2.listen(0, "127.0.0.1", resolve));
  try {
    const [elsewhere = "", elsewhereHttp2 = ""] = [room, roomHttp2].map(
      (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
    const env = { BURSAR_BUDGET: "steps=5", BURSAR_HOSTS: new URL(model.origin).host };
    const { outcomes, stderr } = await runProgram("side-doors", [model.origin, elsewhere, elsewhereHttp2], env);
    expect(outcomes, stderr).toHaveLength(42);
    for (const outcome of outcomes) {
      if (FREE.includes(String(outcome.value))) expect(outcome, stderr).toMatchObject({ status: expect.any(Number) });
      else
        expect(outcome).toEqual({
          value: outcome.value,
          error: expect.stringMatching(/is not metered[^,]*, so it is not sent[^,]*, or go through the gateway$/),
        });
    }
    expect(model.count).toBe(0);
    expect(seen.filter((url) => !url.startsWith("/redirect"))).toEqual([
      "/v1/images/generations",
      "/v1/images/generations",
      "/v1/images/generations",
      "/",
    ]);
    expect(seenHttp2).toEqual(["GET /v1/models", `POST /v1/images/generations`]);
  } finally {
    roomHttp2.close();
    room.closeAllConnections();
    await new Promise((resolve) => room.close(resolve));
  }
});

test("what is paid for passes also where it waits for the connection of another request", async () => {
  await using model = await openScriptedModel({ script: () => ({ kind: "text", text: "Hi." }) });
  const { outcomes, stderr } = await runProgram("pool", [model.origin], { BURSAR_BUDGET: "steps=4" }, model);
  expect(
    outcomes.filter(({ value, status }) => value === "call" && status === 200),
    stderr,
  ).toHaveLength(4);
  expect(model.count).toBe(4);
});

test("what is paid for passes also over a connection of HTTP/2 that was opened for another request", async () => {
  const seen: string[] = [];
  const server = createHttp2Server((request, response) => {
    seen.push(request.method);
    request.resume();
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const env = { BURSAR_BUDGET: "steps=4", BURSAR_HOSTS: `127.0.0.1:${port}` };
    const { outcomes, stderr } = await runProgram("pool-http2", [`http://127.0.0.1:${port}`], env);
    expect(outcomes, stderr).toEqual([
      { value: "look", status: 200 },
      ...Array.from({ length: 4 }, () => ({ value: "call", status: 200 })),
    ]);
    expect(seen.toSorted()).toEqual(["GET", "POST", "POST", "POST", "POST"]);
  } finally {
    server.close();
  }
});
