import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import type { Amount } from "../../src/core/amount.js";
import { defineAgent } from "../../src/runs/agent.js";
import type { RunError } from "../../src/runs/error.js";
import { defineTool, type ToolContext } from "../../src/runs/tool.js";
import { ANN, Latch, mortal, pausedOf, settle, Theatre } from "./stage.js";

interface Received {
  readonly url: string;
  readonly type: string | undefined;
  readonly body: string;
}

async function serve(answer: RequestListener = (_, response) => response.end("ok")) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      received.push({ url: request.url ?? "", type: request.headers["content-type"], body });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { received, url: `http://127.0.0.1:${port}` };
}

/** A run that makes one tool call, in which something is done with the governed fetch. */
function using(work: (context: ToolContext) => Promise<unknown>) {
  const tool = defineTool({ name: "web", description: "Uses the web.", input: {}, run: (_: unknown, c) => work(c) });
  const program = defineAgent("program", async (ctx) =>
    ctx.tool("web").catch(({ code, message }: RunError) => ({ code, message })),
  );
  return new Theatre([program], [tool]);
}

scenario(
  "004/network-storage-budgets",
  "bytes are counted before they are sent, and what does not fit is not sent",
  async () => {
    const { received, url } = await serve();
    const theatre = using(async ({ fetch }) => {
      await fetch(url, { method: "POST", body: "x".repeat(1000) });
      await fetch(url, { method: "POST", body: "y".repeat(1000) });
    });
    const limits = { network_egress_bytes: 2000 };
    const result = await theatre.until(theatre.process().run("program", null, { id: "r", limits }), 0);
    expect(result).toMatchObject({ status: "failed", failure: { dimension: "network_egress_bytes" } });
    expect(received.map(({ body }) => body[0])).toEqual(["x"]);
    expect(Number(result.usage.network_egress_bytes)).toBeGreaterThanOrEqual(1000);
    expect(Number(result.usage.network_egress_bytes)).toBeLessThan(2000);
  },
);

test("a limit of 0 sends nothing at all", async () => {
  const { received, url } = await serve();
  const theatre = using(async ({ fetch }) => (await fetch(url)).text());
  const limits = { network_egress_bytes: 0 };
  const result = await theatre.until(theatre.process().run("program", null, { id: "r", limits }), 0);
  expect(result.status).toBe("failed");
  expect(received).toEqual([]);
});

test("a policy that asks pauses the run, and the tool call is repeated after a yes", async () => {
  const { received, url } = await serve();
  const theatre = using(async ({ fetch }) => (await fetch(url, { method: "POST", body: "x".repeat(500) })).text());
  const policies = { network_egress_bytes: "approval_required" } as const;
  const options = { id: "r", limits: { network_egress_bytes: 100 }, policies };
  const paused = pausedOf(await theatre.until(theatre.process().run("program", null, options), 0));
  expect(paused.exhausted_dimension).toBe("network_egress_bytes");
  expect(received).toEqual([]);
  const extensions = { network_egress_bytes: 5000 };
  const approving = theatre.process().approve(paused.checkpoint_id, { by: ANN, extensions });
  expect(await theatre.until(approving, 0)).toMatchObject({ status: "completed", result: "ok" });
  expect(received).toHaveLength(1);
});

test("no fewer bytes are counted than go over the wire", async () => {
  let bytes = 0;
  const server = createSocketServer((socket) => {
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const theatre = using(async ({ fetch }) => (await fetch(`http://127.0.0.1:${port}/`)).status);
  const result = await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  expect(result).toMatchObject({ status: "completed", result: 200 });
  expect(bytes).toBeGreaterThan(0);
  expect(Number(result.usage.network_egress_bytes)).toBeGreaterThanOrEqual(bytes);
});

test("what is sent again because of a redirect is counted again, or not sent", async () => {
  let sent = 0;
  const { url } = await serve((request, response) => {
    sent += String(request.headers["x-note"] ?? "").length;
    const hops = Number(request.url?.slice(1));
    if (hops < 5) response.writeHead(307, { location: `/${hops + 1}` });
    response.end("ok");
  });
  const theatre = using(async ({ fetch }) =>
    (await fetch(`${url}/0`, { headers: { "x-note": "x".repeat(1000) } })).text(),
  );
  const result = await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  expect(Number(result.usage.network_egress_bytes)).toBeGreaterThanOrEqual(sent);
});

test("a body keeps the type that fetch would give it", async () => {
  const { received, url } = await serve();
  const theatre = using(async ({ fetch }) => {
    await fetch(url, { method: "POST", body: new URLSearchParams({ q: "a b" }) });
    await fetch(url, { method: "POST", body: "text" });
    await fetch(url, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
    const form = new FormData();
    form.set("field", "value");
    await fetch(url, { method: "POST", body: form });
  });
  await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  const types = received.map(({ type }) => type?.split(";")[0]);
  expect(types).toEqual(["application/x-www-form-urlencoded", "text/plain", "application/json", "multipart/form-data"]);
});

test("a signal that the tool brings along is listened to", async () => {
  const { url } = await serve(() => {});
  const theatre = using(({ fetch }) => {
    const own = new AbortController();
    const answer = fetch(url, { signal: own.signal });
    own.abort(new Error("the tool has changed its mind"));
    return answer;
  });
  const result = await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  expect(result).toMatchObject({ status: "completed", result: { message: "the tool has changed its mind" } });
});

test("what is still being read is aborted when the run ends", async () => {
  const closed = new Latch();
  const begun = new Latch();
  const { url } = await serve((request, response) => {
    response.write("the first part");
    request.socket.on("close", () => closed.open());
    begun.open();
  });
  const theatre = using(async ({ fetch }) => (await fetch(url)).text());
  const bursar = theatre.process();
  const work = bursar.run("program", null, { id: "r" });
  await begun.opened;
  await settle(50);
  expect(await theatre.until(bursar.cancel("r", ANN))).toMatchObject({ status: "cancelled" });
  await work;
  const over = await Promise.race([closed.opened.then(() => true), settle(2000).then(() => false)]);
  expect(over).toBe(true);
});

test("a tool that swallows the refusal does not get past it", async () => {
  const { received, url } = await serve();
  const theatre = using(async ({ fetch }) => {
    const codes: string[] = [];
    for (let turn = 0; turn < 3; turn++) {
      codes.push(
        await fetch(url, { method: "POST", body: "x".repeat(1000) }).then(
          () => "sent",
          ({ code }: RunError) => code,
        ),
      );
    }
    return codes;
  });
  const limits = { network_egress_bytes: 1500 };
  await theatre.until(theatre.process().run("program", null, { id: "r", limits }), 0);
  expect(received).toHaveLength(1);
});

test("what a tool has begun and does not wait for ends with its call, and keeps neither run nor connection open", async () => {
  const closed = new Latch();
  const { received, url } = await serve((request, response) => {
    request.socket.on("close", () => closed.open());
    if (request.url === "/unread") response.write("the first part");
  });
  const theatre = using(async ({ fetch }) => {
    void fetch(`${url}/slow`);
    while (received.length === 0) await settle(1);
    return (await fetch(`${url}/unread`)).status;
  });
  const result = await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  expect(result).toMatchObject({ status: "completed", result: 200 });
  expect(await theatre.store.budget("r")).toMatchObject({ ended: true, open: 0 });
  await closed.opened;
});

test("nothing is sent for a tool whose call is over", async () => {
  const { received, url } = await serve();
  const kept: ToolContext[] = [];
  const theatre = using(async (context) => kept.push(context));
  await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  await expect(kept[0]?.fetch(url)).rejects.toThrow("is over");
  expect(received).toEqual([]);
});

test("a redirect to another server does not take passwords along, and a form becomes a question", async () => {
  const seen: unknown[] = [];
  const elsewhere = await serve(({ method, headers }, response) => {
    const { authorization = null, cookie = null, "content-type": type = null, "x-note": note } = headers;
    seen.push({ method, authorization, cookie, type, note });
    response.end("there");
  });
  const { url } = await serve((_, response) => {
    response.writeHead(302, { location: `${elsewhere.url}/new` });
    response.end();
  });
  const theatre = using(async ({ fetch }) => {
    const headers = { authorization: "Bearer secret", cookie: "a=b", "x-note": "kept" };
    const response = await fetch(`${url}/old`, { method: "POST", body: "text", headers });
    return { text: await response.clone().text(), url: response.url, redirected: response.redirected };
  });
  const result = await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  expect(result).toMatchObject({ result: { text: "there", url: `${elsewhere.url}/new`, redirected: true } });
  expect(seen).toEqual([{ method: "GET", authorization: null, cookie: null, type: null, note: "kept" }]);
});

test("a redirect that does not fit is not followed, and a circle of them is left", async () => {
  const { received, url } = await serve((request, response) => {
    response.writeHead(308, { location: request.url ?? "/" });
    response.end();
  });
  const theatre = using(async ({ fetch }) => fetch(url, { method: "PUT", body: "x".repeat(1000) }));
  const limits = { network_egress_bytes: 2000 };
  const stopped = await theatre.until(theatre.process().run("program", null, { id: "r", limits }), 0);
  expect(stopped).toMatchObject({ status: "failed", failure: { dimension: "network_egress_bytes" } });
  expect(received).toHaveLength(1);
  const circled = await theatre.until(theatre.process().run("program", null, { id: "s" }), 0);
  expect(circled).toMatchObject({ status: "completed", result: { code: "redirects" } });
  expect(received).toHaveLength(1 + 11);
  expect(received.every(({ body }) => body.length === 1000)).toBe(true);
});

test("who wants to see redirects sees them, and who wants none gets an error", async () => {
  const { received, url } = await serve((_, response) => {
    response.writeHead(302, { location: "/new" });
    response.end();
  });
  const theatre = using(async ({ fetch }) => {
    const response = await fetch(url, { redirect: "manual" });
    const refused = await fetch(url, { redirect: "error" }).catch(() => "refused");
    return [response.status, response.headers.get("location"), refused];
  });
  const result = await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  expect(result).toMatchObject({ result: [302, "/new", "refused"] });
  expect(received).toHaveLength(2);
});

test("a request that fetch sends twice by itself is charged twice", async () => {
  const { received, url } = await serve((_, response) => {
    response.statusCode = 421;
    response.end();
  });
  const theatre = using(async ({ fetch }) => (await fetch(url, { method: "PUT", body: "x".repeat(1000) })).status);
  const result = await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  expect(result).toMatchObject({ status: "completed", result: 421 });
  expect(Number(result.usage.network_egress_bytes)).toBeGreaterThanOrEqual(received.length * 1000);
});

test("a request that cannot be made is not charged", async () => {
  const theatre = using(async ({ fetch }) => {
    const attempts = [fetch("nowhere"), fetch("http://a:b@127.0.0.1/"), fetch("http://127.0.0.1/", { body: "x" })];
    return (await Promise.allSettled(attempts)).map(({ status }) => status);
  });
  const result = await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  expect(result).toMatchObject({ result: ["rejected", "rejected", "rejected"], usage: { network_egress_bytes: 0 } });
});

test("a body that comes in pieces is counted as a whole", async () => {
  const { received, url } = await serve();
  const theatre = using(async ({ fetch }) => {
    const body = new Blob(["a".repeat(700), "b".repeat(700)]).stream();
    return (await fetch(url, { method: "POST", body })).text();
  });
  const result = await theatre.until(theatre.process().run("program", null, { id: "r" }), 0);
  expect(received.map(({ body }) => body.length)).toEqual([1400]);
  expect(Number(result.usage.network_egress_bytes)).toBeGreaterThan(1400);
});

test("a refusal that nobody waits for ends nothing but itself", async () => {
  const { received, url } = await serve();
  const theatre = using(async ({ fetch }) => {
    void fetch(url, { method: "POST", body: "x".repeat(5000) });
    await settle(100);
    return "fine";
  });
  const limits = { network_egress_bytes: 2000 };
  const result = await theatre.until(theatre.process().run("program", null, { id: "r", limits }), 0);
  expect(result).toMatchObject({ status: "completed", result: "fine", usage: { network_egress_bytes: 0 } });
  expect(received).toEqual([]);
});

/** Kills the worker of a run in whose tool bytes are on their way, and lets another one go on with it. */
async function afterKill(work: (fetch: ToolContext["fetch"], url: string) => Promise<unknown>) {
  let answering = false;
  const { received, url } = await serve((_, response) => {
    if (answering) response.end("ok");
  });
  const theatre = using(async ({ fetch }) => {
    // What others of the session have used meanwhile leaves less than the run's own limit: what then does not fit is refused
    // alone, and what comes after it is not.
    const used = { network_egress_bytes: 6000 as Amount };
    await theatre.store.apply([{ op: "charge", budget: "session:s", call: "others", used }]);
    return work(fetch, url);
  });
  const { seen: store, kill } = mortal(theatre.store);
  const limits = { wall_clock_ms: null, network_egress_bytes: 10_000 };
  await theatre.process().openSession("s", { network_egress_bytes: 10_000 });
  void theatre.process({ store, claim_ms: 5000 }).run("program", null, { id: "r", limits, session: "s" });
  while (received.length === 0) await settle(1);
  kill();
  const held = await theatre.store.budget("r");
  // The tool's own call, and the request inside of it.
  expect(held).toMatchObject({ open: 2 });
  answering = true;
  theatre.clock.advance(6000);
  const done = await theatre.until(theatre.process().drive("r"), 0);
  expect(done).toMatchObject({ status: "completed", result: "ok" });
  expect(await theatre.store.budget("r")).toMatchObject({ ended: true, open: 0 });
}

test("a worker that is killed while bytes are on their way leaves nothing that keeps the run from ending", () =>
  afterKill(async (fetch, url) => (await fetch(url, { method: "POST", body: "x" })).text()));

test("a worker that is killed after requests that came to nothing leaves nothing open either", () =>
  afterKill(async (fetch, url) => {
    for (let turn = 0; turn < 10; turn++) await fetch(url, { signal: AbortSignal.abort() }).catch(() => {});
    return (await fetch(url)).text();
  }));

for (const refused of [4, 20]) {
  test(`a worker that is killed after ${refused} requests that did not fit leaves nothing open either`, () =>
    afterKill(async (fetch, url) => {
      const large = { method: "POST", body: "x".repeat(6000) };
      for (let turn = 0; turn < refused; turn++) await fetch(url, large).catch(() => {});
      return (await fetch(url)).text();
    }));
}

test("what a tool holds for itself does not stand in the way of its own requests, nor does who waits for it", async () => {
  const { received, url } = await serve();
  const tool = defineTool({
    name: "search",
    description: "Searches.",
    input: {},
    quote: { cost_usd: 0.005 },
    run: async (_: unknown, { fetch }) => (await fetch(url)).text(),
  });
  const program = defineAgent("three", (ctx) => Promise.all([1, 2, 3].map(() => ctx.tool("search"))));
  const theatre = new Theatre([program], [tool]);
  // Two of them hold all there is, and the third waits until it would not fit any more.
  const limits = { cost_usd: 0.01, steps: 2 };
  const policies = { cost_usd: "approval_required", steps: "approval_required" } as const;
  const running = theatre.process().run("three", null, { id: "r", limits, policies });
  expect(await theatre.until(running, 0)).toMatchObject({ status: "paused", usage: { cost_usd: 0.01, steps: 2 } });
  expect(received).toHaveLength(2);
});

test("a request asks for what it needs, also inside of a tool", async () => {
  const { received, url } = await serve();
  const theatre = using(async ({ fetch }) => (await fetch(url)).text());
  const limits = { network_egress_bytes: 10, steps: 1 };
  const running = theatre.process().run("program", null, { id: "r", limits });
  expect(await theatre.until(running, 0)).toMatchObject({ failure: { dimension: "network_egress_bytes" } });
  expect(received).toEqual([]);
});
