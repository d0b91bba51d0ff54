import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { opened } from "./opened.js";

interface ProxyServer extends AsyncDisposable {
  readonly url: string;
  /** The addresses it was asked to connect to. */
  readonly targets: readonly string[];
}

/** An HTTP proxy that tunnels with CONNECT. */
async function openProxy(): Promise<ProxyServer> {
  const targets: string[] = [];
  const server: Server = createServer();
  server.on("connect", (request, client) => {
    targets.push(request.url ?? "");
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const upstream = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const BODY = { model: "gpt-4o", messages: [{ role: "user", content: "Hi" }], max_tokens: 16 };

afterEach(() => vi.unstubAllEnvs());

describe("a proxy of the environment", () => {
  test("carries the requests to providers, and they are charged as without it", async () => {
    await using proxy = await openProxy();
    vi.stubEnv("HTTP_PROXY", proxy.url);
    await using direct = await opened(() => ({ kind: "text", text: "Hello" }), { cost_usd: 1 });

    const response = await direct.post("/v1/chat/completions", BODY);

    expect(response.status).toBe(200);
    expect(proxy.targets).toEqual([new URL(direct.model.url).host]);
    expect(await direct.used()).toMatchObject({ steps: 1 });
    expect(await direct.held()).toEqual({});
  });

  test("is left out for the hosts of NO_PROXY", async () => {
    await using proxy = await openProxy();
    vi.stubEnv("HTTP_PROXY", proxy.url);
    vi.stubEnv("NO_PROXY", "127.0.0.1,localhost");
    await using direct = await opened(() => ({ kind: "text", text: "Hello" }), { cost_usd: 1 });

    expect((await direct.post("/v1/chat/completions", BODY)).status).toBe(200);
    expect(proxy.targets).toEqual([]);
  });

  test("that cannot be reached fails the request before anything was sent, and only its step is charged", async () => {
    const proxy = await openProxy();
    vi.stubEnv("HTTP_PROXY", proxy.url);
    await proxy[Symbol.asyncDispose]();
    await using direct = await opened(() => ({ kind: "text", text: "Hello" }), { cost_usd: 1 });

    expect((await direct.post("/v1/chat/completions", BODY)).status).toBe(502);
    expect(await direct.used()).toMatchObject({ steps: 1, cost_usd: 0 });
    expect(await direct.held()).toEqual({});
  });
});

test("an upstream has at most as many connections as it is given", async () => {
  let inFlight = 0;
  let most = 0;
  await using one = await opened(
    async () => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight--;
      return { kind: "text", text: "Hello" };
    },
    { cost_usd: 1 },
  );
  await using limited = await opened(
    () => ({ kind: "text", text: "unused" }),
    { cost_usd: 1 },
    {
      upstreams: [{ name: "provider", url: one.model.url, key: "upstream-secret", connections: 2 }],
    },
  );

  const responses = await Promise.all(Array.from({ length: 8 }, () => limited.post("/v1/chat/completions", BODY)));

  expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(2);
});
