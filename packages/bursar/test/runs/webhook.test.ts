import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import type { ApprovalRequest } from "../../src/runs/approval.js";
import { defineTool } from "../../src/runs/tool.js";
import { Webhook, type WebhookOptions } from "../../src/runs/webhook.js";
import { ANN, listOf, pausedOf, settle, Theatre } from "./stage.js";

const SECRET = "a secret of 24 letters..";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly method: string;
}

/** A real server on loopback that notes what it gets, and answers as it is told. */
async function receiver(answer: RequestListener = (_, response) => response.end()) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      received.push({ headers: request.headers, body, method: request.method ?? "" });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { received, url: `http://127.0.0.1:${port}/hook` };
}

const send = defineTool({
  name: "send",
  description: "Sends a letter.",
  input: { type: "object", properties: { to: { type: "string" }, text: { type: "string" } } },
  approval: true,
  run: () => "sent",
});

const writer = defineAgent("writer", async (ctx) => ctx.tool("send", { to: "bob", text: "password: hunter2" }));

function hook(theatre: Theatre, options: Pick<WebhookOptions, "url"> & Partial<WebhookOptions>): Webhook {
  return new Webhook({ secret: SECRET, clock: theatre.clock, timer: theatre.clock, ...options });
}

/** Waits for what comes over the network, which takes no time of the test's own clock. */
async function arrived(received: readonly unknown[], count: number): Promise<void> {
  // A real network takes real time, and on a busy machine more of it.
  await expect.poll(() => received.length, { timeout: 20_000, interval: 5 }).toBeGreaterThanOrEqual(count);
  expect(received).toHaveLength(count);
}

/** What whoever gets it has to do in order to believe it. */
function verified({ headers, body }: Received, secret: string): boolean {
  const [, instant, sent] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["bursar-signature"])) ?? [];
  return createHmac("sha256", secret).update(`${instant}.${body}`).digest("hex") === sent;
}

test("a request and the decision over it are told, signed, and without what the action was", async () => {
  const { received, url } = await receiver();
  const theatre = new Theatre([writer], [send]);
  const bursar = theatre.process({ webhook: hook(theatre, { url }) });
  const paused = pausedOf(await theatre.until(bursar.run("writer", null, { id: "r" })));
  await arrived(received, 1);
  await theatre.until(bursar.approve(paused.approval_id ?? "", { by: ANN, reason: "fine" }));
  await arrived(received, 2);
  const bodies = received.map(({ body }) => JSON.parse(body));
  expect(bodies).toMatchObject([
    { event: "approval.requested", approval: { id: paused.approval_id, status: "pending", run: "r" } },
    { event: "approval.decided", approval: { status: "approved", decision: { by: "ann", reason: "fine" } } },
  ]);
  for (const each of received) {
    expect(each.method).toBe("POST");
    expect(each.headers["content-type"]).toBe("application/json");
    expect(verified(each, SECRET)).toBe(true);
    expect(verified(each, `${SECRET}x`)).toBe(false);
    expect(verified({ ...each, body: each.body.replace("pending", "denied").replace("fine", "mine") }, SECRET)).toBe(
      false,
    );
    for (const word of ["bob", "hunter2", "args"]) expect(each.body).not.toContain(word);
  }
  const [first, second] = received.map(({ headers }) => headers["bursar-delivery"]);
  expect(first).not.toBe(second);
});

test("what is signed holds the instant, so that an old delivery can be told from a new one", async () => {
  const { received, url } = await receiver();
  const theatre = new Theatre([]);
  const webhook = hook(theatre, { url });
  const request = { id: "a", status: "pending", action: {}, version: 1 } as unknown as ApprovalRequest;
  await webhook.tell("approval.requested", request);
  theatre.clock.advance(1000);
  await webhook.tell("approval.requested", request);
  const [first, second] = received.map(({ headers }) => String(headers["bursar-signature"]));
  expect(first).toContain(`t=${theatre.clock.now().instant - 1000},`);
  expect(second).toContain(`t=${theatre.clock.now().instant},`);
  expect(first?.split("v1=")[1]).not.toBe(second?.split("v1=")[1]);
});

test("is tried so often and no more, with longer and longer waits, and says when it gave up", async () => {
  const { received, url } = await receiver((_, response) => {
    response.statusCode = 503;
    response.end("busy");
  });
  const theatre = new Theatre([]);
  const failures: unknown[] = [];
  const webhook = hook(theatre, { url, tries: 4, failed: (error, { id }) => failures.push([String(error), id]) });
  const request = { id: "a", status: "pending", action: {}, version: 1 } as unknown as ApprovalRequest;
  const told = webhook.tell("approval.requested", request);
  for (const [count, wait] of [
    [1, 1000],
    [2, 2000],
    [3, 4000],
  ] as const) {
    await arrived(received, count);
    await settle(20);
    theatre.clock.advance(wait - 1);
    await settle(20);
    expect(received).toHaveLength(count);
    theatre.clock.advance(1);
  }
  expect(await told).toBe(false);
  expect(received).toHaveLength(4);
  expect(failures).toEqual([[`Error: ${url} answered 503`, "a"]]);
  // Whoever gets it twice can tell that it is the same.
  expect(new Set(received.map(({ headers }) => headers["bursar-delivery"]))).toEqual(new Set(["a.pending"]));
});

test("is delivered by a later try when the first ones fail", async () => {
  let turn = 0;
  const { received, url } = await receiver((request, response) => {
    if (++turn === 1) request.socket.destroy();
    else response.end();
  });
  const theatre = new Theatre([]);
  const webhook = hook(theatre, { url });
  const told = webhook.tell("approval.requested", { id: "a", status: "pending" } as unknown as ApprovalRequest);
  await arrived(received, 1);
  await settle(50);
  theatre.clock.advance(1000);
  expect(await told).toBe(true);
  expect(received).toHaveLength(2);
});

test("a redirect is refused: nobody else gets to see it", async () => {
  const elsewhere = await receiver();
  const { received, url } = await receiver((_, response) => {
    response.writeHead(307, { location: elsewhere.url });
    response.end();
  });
  const theatre = new Theatre([]);
  const failures: unknown[] = [];
  const webhook = hook(theatre, { url, tries: 1, failed: (error) => failures.push(error) });
  const request = { id: "a", status: "pending" } as unknown as ApprovalRequest;
  expect(await webhook.tell("approval.requested", request)).toBe(false);
  expect(received).toHaveLength(1);
  expect(elsewhere.received).toEqual([]);
  expect(failures).toHaveLength(1);
});

test("a receiver that is away holds nobody up", async () => {
  const theatre = new Theatre([writer], [send]);
  const bursar = theatre.process({ webhook: hook(theatre, { url: "http://127.0.0.1:9/" }) });
  const paused = pausedOf(await theatre.until(bursar.run("writer", null, { id: "r" })));
  const done = await theatre.until(bursar.approve(paused.approval_id ?? "", { by: ANN }));
  expect(done).toMatchObject({ status: "completed", result: "sent" });
});

test("one request is told once, however often the run is tried to go on without an answer", async () => {
  const { received, url } = await receiver();
  const theatre = new Theatre([writer], [send]);
  const bursar = theatre.process({ webhook: hook(theatre, { url }) });
  pausedOf(await theatre.until(bursar.run("writer", null, { id: "r" })));
  await arrived(received, 1);
  pausedOf(await theatre.until(bursar.resume("r")));
  await settle(300);
  expect(await listOf(bursar.approvals())).toHaveLength(1);
  expect(received).toHaveLength(1);
});

test("a secret that is too short, an address that is none and a number of tries that is none are refused", () => {
  const make = (options: Partial<WebhookOptions>) =>
    new Webhook({ url: "https://a.example", secret: SECRET, ...options });
  expect(() => make({ secret: "short" })).toThrow("webhook.secret is too short");
  expect(() => make({ url: "file:///etc/passwd" })).toThrow("webhook.url");
  expect(() => make({ url: "nowhere" })).toThrow("webhook.url");
  for (const tries of [Number.NaN, 0, 1.5, 101, Number.POSITIVE_INFINITY]) {
    expect(() => make({ tries })).toThrow("webhook.tries");
  }
});

test("a callback that throws, at once or later, troubles nobody", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const { url } = await receiver((_, response) => {
    response.statusCode = 500;
    response.end();
  });
  const theatre = new Theatre([]);
  const request = { id: "a", status: "pending" } as unknown as ApprovalRequest;
  const throwing = () => {
    throw new Error("at once");
  };
  const rejecting = () => Promise.reject(new Error("later"));
  for (const failed of [throwing, rejecting]) {
    const webhook = hook(theatre, { url, tries: 1, failed });
    expect(await webhook.tell("approval.requested", request)).toBe(false);
  }
  await settle(20);
  expect(unhandled).toEqual([]);
});

test("a request that cannot be written down is given up, and nobody else notices", async () => {
  const { received, url } = await receiver();
  const failures: unknown[] = [];
  const webhook = hook(new Theatre([]), { url, failed: (error) => failures.push(error) });
  const request = { id: "a", status: "denied", reason: "half a character: \ud83d" } as unknown as ApprovalRequest;
  expect(await webhook.tell("approval.decided", request)).toBe(false);
  expect(failures).toHaveLength(1);
  expect(received).toEqual([]);
});

test("waits do not grow without end", async () => {
  const waits: number[] = [];
  const theatre = new Theatre([]);
  const timer = {
    after: (ms: number, ring: () => void) => {
      waits.push(ms);
      queueMicrotask(ring);
      return { [Symbol.dispose]: () => {} };
    },
  };
  const fetch = () => Promise.reject(new Error("away"));
  const webhook = hook(theatre, { url: "http://127.0.0.1:9/", tries: 100, timer, fetch });
  expect(await webhook.tell("approval.requested", { id: "a", status: "pending" } as unknown as ApprovalRequest)).toBe(
    false,
  );
  expect(waits).toHaveLength(99);
  // A day and more between two tries is of no use to anybody, and too much for a timer in the end.
  expect(Math.max(...waits)).toBeLessThan(24 * 60 * 60_000);
});
