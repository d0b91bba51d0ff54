import type { Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineAgent } from "../../src/runs/agent.js";
import { openBursar } from "../../src/runs/bursar.js";
import type { RunRecord } from "../../src/runs/record.js";
import { defineTool } from "../../src/runs/tool.js";
import { Worker } from "../../src/runs/worker.js";
import { openServer, type ServerOptions } from "../../src/server/server.js";
import type { Role } from "../../src/server/tokens.js";
import { Tokens } from "../../src/server/tokens.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { until } from "../gateway/until.js";
import { Description } from "./described.js";

/** What a scene is made of: as it is written, or as it is shipped, which must not be mixed. */
export interface Parts {
  readonly openBursar: typeof openBursar;
  readonly defineAgent: typeof defineAgent;
  readonly defineTool: typeof defineTool;
  readonly Worker: typeof Worker;
  readonly openServer: typeof openServer;
  readonly Tokens: typeof Tokens;
}

const WRITTEN: Parts = { openBursar, defineAgent, defineTool, Worker, openServer, Tokens };

/** Uses a step for each word, and says how many there were. */
export function talkerOf(parts: Pick<Parts, "defineAgent">) {
  return parts.defineAgent("talker", async (ctx, { words }: { words: readonly string[] }) => {
    for (const text of words) await ctx.tool("echo", { text });
    return words.length;
  });
}

function echoOf(parts: Pick<Parts, "defineTool">) {
  return parts.defineTool({
    name: "echo",
    description: "Says it again.",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: ({ text }: { text: string }) => text,
  });
}

/** Enough for two words, and for more only if somebody says so. */
export const TIGHT = { limits: { steps: 2 }, policies: { steps: "approval_required" } } as const;

interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** What went wrong, as every client is told. */
export interface Told {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
}

/** A server with a worker beside it, and one client; every answer is held against the server's own description. */
export async function opened(options: Partial<ServerOptions> = {}, roles: readonly Role[] = [], parts = WRITTEN) {
  const store = options.store ?? new MemoryStore();
  const echo = echoOf(parts);
  const bursar = parts.openBursar({ store, programs: [talkerOf(parts)], tools: [echo] });
  const worker = new parts.Worker({ bursar, every_ms: 20 });
  worker.start();
  const secrets = new Map<string, string>();
  for (const role of roles) {
    secrets.set(role, (await new parts.Tokens(store).create({ name: `the ${role}`, role })).secret);
  }
  const errors: unknown[] = [];
  const server = await parts.openServer({
    port: 0,
    version: "1.2.3",
    onError: (error) => errors.push(error),
    programs: () => [{ name: "talker", kind: "agent" }],
    ...options,
    store,
    bursar,
  });
  const local = `http://127.0.0.1:${portOf(server)}`;
  const description = await Description.of(local);

  const ask = asking(local, description);

  return {
    store,
    bursar,
    server,
    description,
    errors,
    ask,
    /** Where it listens, whatever it is called by. */
    url: local,
    get: <Body = Told>(path: string, headers?: Record<string, string>) => ask<Body>("GET", path, undefined, headers),
    post: <Body = Told>(path: string, body?: unknown, headers?: Record<string, string>) =>
      ask<Body>("POST", path, body, headers),
    /** What somebody of a role sends along. */
    as: (role: Role) => ({ authorization: `Bearer ${secrets.get(role)}` }),
    secretOf: (role: Role) => secrets.get(role) ?? "",
    async revoke(role: Role): Promise<void> {
      const token = (await server.tokens.list()).find((each) => each.role === role);
      await server.tokens.revoke(token?.id ?? "");
    },
    /** Starts a run and waits until it stands still or has ended. */
    async start(words: string, more: object = {}): Promise<RunRecord> {
      const { id } = await bursar.start("talker", { words: words.split("") }, more);
      return this.still(id);
    },
    async still(id: string): Promise<RunRecord> {
      await until(`${id} stands still`, async () => !["queued", "running"].includes((await bursar.find(id)).status));
      return bursar.find(id);
    },
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await worker[Symbol.asyncDispose]();
      if (options.store === undefined) await store[Symbol.asyncDispose]();
    },
  };
}

/** Asks as a client does, and holds what is answered against the description. */
function asking(url: string, description: Description) {
  return async <Body = Told>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> => {
    const said = method === "GET" ? {} : { "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...said, ...headers },
      ...(method !== "GET" && { body: typeof body === "string" ? body : JSON.stringify(body ?? {}) }),
    });
    const text = await response.text();
    const type = response.headers.get("content-type") ?? "";
    const read = type.startsWith("application/json;") ? JSON.parse(text) : text;
    description.check(method, new URL(response.url).pathname, response.status, type, read);
    return { status: response.status, headers: response.headers, body: read };
  };
}

/** A server that is known by another name does not tell its port. */
function portOf(server: object): number {
  const { listening } = server as { readonly listening: { readonly server: HttpServer } };
  return (listening.server.address() as AddressInfo).port;
}
