import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox, type SandboxOptions } from "@bursar/sandbox";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult, ClientCapabilities } from "@modelcontextprotocol/sdk/types.js";
import {
  type Bursar,
  defineAgent,
  defineTool,
  guestProgram,
  MemoryStore,
  openBursar,
  type Principal,
  type Program,
} from "bursar";
import { type McpHandlerOptions, openMcpHandler } from "../../src/mcp/http-handler.js";

/** Kept between runs, because preparing the interpreter takes seconds. */
const CACHE = fileURLToPath(
  new URL("../../../../node_modules/.cache/bursar-sandbox-tests/xdg/bursar/sandbox", import.meta.url),
);

export const OPERATOR: Principal = { name: "ann", role: "operator" };
export const AGENT: Principal = { name: "robot", role: "agent" };
export const VIEWER: Principal = { name: "vic", role: "viewer" };

const note = defineTool({
  name: "note",
  description: "Writes a word down.",
  input: { type: "object" },
  quote: { llm_tokens: 100 },
  meter: () => ({ llm_tokens: 100 }),
  run: () => "noted",
});

/** Uses 100 tokens for each word, so that limits of tokens stop it where a test wants. */
const writer = defineAgent("writer", async (ctx, input) => {
  const { words = 1 } = (input ?? {}) as { words?: number };
  for (let word = 0; word < words; word++) await ctx.tool("note", {});
  return `${words} words`;
});

/** Waits until it is cancelled, or for a very long time. */
const sleeper = defineAgent("sleeper", async (ctx) => {
  await ctx.sleep(3_600_000);
  return null;
});

/** A server with MCP over HTTP, on which everybody is who he says he is. */
export interface McpStage extends AsyncDisposable {
  readonly url: string;
  readonly bursar: Bursar;
  readonly programs: readonly Program[];
  readonly errors: readonly unknown[];
  readonly connections: () => number;
  connect(principal: Principal, options?: ConnectOptions): Promise<Client>;
}

interface ConnectOptions {
  readonly capabilities?: ClientCapabilities;
  readonly prepare?: (client: Client) => void;
}

export function openTestSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  return openSandbox({ cacheFolder: CACHE, workers: 2, ...options });
}

const PRINCIPALS = [OPERATOR, AGENT, VIEWER, { name: "other", role: "agent" } as const];

export async function openStage(
  options: Partial<McpHandlerOptions> & { readonly sandbox: () => Promise<Sandbox> },
): Promise<McpStage> {
  const store = new MemoryStore();
  const programs = [writer, sleeper];
  const bursar = openBursar({ store, tools: [note], programs });
  const errors: unknown[] = [];
  const handler = openMcpHandler({
    bursar,
    programs,
    packagesFolder: "/nonexistent",
    version: "0.0.0",
    brought: ({ name = "program", language, code }) =>
      guestProgram(
        name,
        { language: language as "python", code, packages: [], memory_bytes: 268_435_456 },
        options.sandbox,
      ),
    approvalUrl: (id) => `http://127.0.0.1:8787/approvals/${id}`,
    onError: (error) => errors.push(error),
    ...options,
  });
  const server = createServer((request, response) => {
    const principal = PRINCIPALS.find(({ name }) => name === request.headers["x-principal"]) ?? OPERATOR;
    void handler.handle(request, response, principal);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const clients: Client[] = [];
  return {
    url,
    bursar,
    programs,
    errors,
    connections: () => handler.connections,
    async connect({ name }, { capabilities = {}, prepare = () => {} } = {}) {
      const client = new Client({ name: "test", version: "0" }, { capabilities });
      prepare(client);
      const requestInit = { headers: { "x-principal": name } };
      // The SDK declares what it gives without the exactness that this repository is compiled with.
      const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
      await client.connect(transport as Parameters<Client["connect"]>[0]);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(clients.map((client) => client.close()));
      await handler[Symbol.asyncDispose]();
      server.closeAllConnections();
      server.close();
      await bursar[Symbol.asyncDispose]();
    },
  };
}

/** What a tool has answered. */
export interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly said: Readonly<Record<string, never>> & { readonly [key: string]: never };
}

export async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Answer> {
  // A machine that is busy with other tests must not fail these.
  const result = (await client.callTool({ name, arguments: args }, undefined, { timeout: 110_000 })) as CallToolResult;
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return { isError: result.isError === true, text, said: (result.structuredContent ?? {}) as Answer["said"] };
}

/** How a run stands when it has ended or paused, however long that takes. */
export async function stillness(client: Client, started: Answer): Promise<Answer> {
  for (let answer = started; ; ) {
    if (answer.isError || !["queued", "running"].includes(answer.said.status as never)) return answer;
    answer = await call(client, "run_status", { run_id: answer.said.run_id, wait_ms: 60_000 });
  }
}

export async function toolNames(client: Client): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name).sort();
}
