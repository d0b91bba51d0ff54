import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Principal } from "bursar";
import { isDeciding } from "../app/roles.js";
import { type McpConnection, openMcp, workplaceFor } from "./mcp.js";
import type { McpSettings } from "./options.js";
import type { Workplace } from "./workplace.js";

export interface McpHandlerOptions extends McpSettings {
  /** How many clients may be connected at the same time: 100. */
  readonly mostConnections?: number;
  /** How many of them one principal may have: 20. */
  readonly mostOfOne?: number;
  /** A connection that says nothing for so long is closed: half an hour. */
  readonly idle_ms?: number;
}

/** Serves MCP over streamable HTTP on somebody else's server, which has looked at Host, Origin and credentials already. */
export interface McpHandler extends AsyncDisposable {
  handle(request: IncomingMessage, response: ServerResponse, principal: Principal): Promise<void>;
  /** How many clients are connected. */
  readonly connections: number;
}

interface Client {
  readonly principal: Principal;
  readonly connection: McpConnection;
  readonly transport: StreamableHTTPServerTransport;
  used: number;
  /** Requests under way, its stream of events among them. */
  busy: number;
}

/** Where a principal's code is executed, and how many of his connections share it. */
interface Shared {
  readonly workplace: Workplace;
  clients: number;
  left: number;
}

const MOST_CONNECTIONS = 100;
const MOST_OF_ONE = 20;
const HALF_HOUR = 1_800_000;
const SWEEP_MS = 30_000;
const MOST_BODY = 4 * 1024 * 1024;
const MOST_PLACES = 1000;

/** Opens a handler. Whoever connects again gets the same budget for his code: to reconnect is no way around a limit. */
export function openMcpHandler(options: McpHandlerOptions): McpHandler {
  return new Clients(options);
}

class Clients implements McpHandler {
  private readonly options: McpHandlerOptions;
  private readonly clients = new Map<string, Client>();
  private readonly places = new Map<string, Shared>();
  private readonly sweeping: NodeJS.Timeout;
  private closed = false;

  constructor(options: McpHandlerOptions) {
    this.options = options;
    this.sweeping = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  get connections(): number {
    return this.clients.size;
  }

  async handle(request: IncomingMessage, response: ServerResponse, principal: Principal): Promise<void> {
    if (this.closed) return refuse(response, 503, "the server is closing; connect again later");
    const id = request.headers["mcp-session-id"];
    if (typeof id === "string") {
      const client = this.clients.get(id);
      // Another principal's connection is not there for this one, whatever id he has seen.
      if (client === undefined || !isSame(client.principal, principal)) {
        return refuse(response, 404, "there is no such session; initialize anew");
      }
      return this.serve(client, request, response);
    }
    if (request.method !== "POST")
      return refuse(response, 400, "the header Mcp-Session-Id is missing; initialize first");
    const full = this.refusal(principal);
    if (full !== null) return refuse(response, 429, full);
    await this.begin(request, response, principal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    clearInterval(this.sweeping);
    await Promise.allSettled([...this.clients.keys()].map((id) => this.end(id)));
    await Promise.allSettled([...this.places.values()].map(({ workplace }) => workplace[Symbol.asyncDispose]()));
    this.places.clear();
  }

  /** Why nobody more can connect, or null. */
  private refusal(principal: Principal): string | null {
    const { mostConnections = MOST_CONNECTIONS, mostOfOne = MOST_OF_ONE } = this.options;
    const own = this.of(principal);
    if (own.length >= mostOfOne && idlest(own) === null) {
      return `${principal.name} has ${mostOfOne} connections, the most allowed, and all are in use; close one first`;
    }
    if (this.clients.size < mostConnections || idlest([...this.clients]) !== null) return null;
    return `${mostConnections} clients are connected, the most allowed, and all are in use; try later`;
  }

  /**
   * Most clients leave without a word, so whoever was silent longest makes room for a new one, and connects anew when he comes
   * back. This is done when the new one has introduced himself: rubbish ends nobody's connection.
   */
  private async makeRoom(principal: Principal): Promise<void> {
    const { mostConnections = MOST_CONNECTIONS, mostOfOne = MOST_OF_ONE } = this.options;
    const own = this.of(principal);
    const oldest = own.length >= mostOfOne ? idlest(own) : null;
    if (oldest !== null) await this.end(oldest);
    const any = this.clients.size >= mostConnections ? idlest([...this.clients]) : null;
    if (any !== null) await this.end(any);
  }

  private of({ name }: Principal): readonly (readonly [string, Client])[] {
    return [...this.clients].filter(([, { principal }]) => principal.name === name);
  }

  private async begin(request: IncomingMessage, response: ServerResponse, principal: Principal): Promise<void> {
    const shared = this.placeOf(principal);
    // Whoever has a role that decides is believed that a person answers; an agent's client could answer for itself.
    const human = isDeciding(principal) ? principal : null;
    const connection = openMcp({ ...this.options, principal, human, workplace: shared.workplace });
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      maxRequestBodySize: MOST_BODY,
      onsessioninitialized: async (id) => {
        await this.makeRoom(principal);
        shared.clients++;
        this.clients.set(id, client);
      },
      onsessionclosed: (id) => void this.end(id).catch((error: unknown) => this.options.onError?.(error)),
    });
    const client: Client = { principal, connection, transport, used: performance.now(), busy: 0 };
    // The SDK declares what it gives without the exactness that this repository is compiled with.
    await connection.server.connect(transport as Parameters<typeof connection.server.connect>[0]);
    await this.serve(client, request, response);
    // What began with something else than an introduction is no connection.
    if (transport.sessionId === undefined) await connection[Symbol.asyncDispose]();
  }

  private async serve(client: Client, request: IncomingMessage, response: ServerResponse): Promise<void> {
    client.used = performance.now();
    client.busy++;
    response.once("close", () => {
      client.busy--;
      client.used = performance.now();
    });
    try {
      await client.transport.handleRequest(request, response);
    } catch (error) {
      this.options.onError?.(error);
      refuse(response, 500, "something failed inside of Bursar; try again");
    }
  }

  private placeOf({ name }: Principal): Shared {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    const shared = { workplace: workplaceFor(this.options, name), clients: 0, left: performance.now() };
    this.places.set(name, shared);
    return shared;
  }

  private async end(id: string): Promise<void> {
    const client = this.clients.get(id);
    if (client === undefined) return;
    this.clients.delete(id);
    const shared = this.places.get(client.principal.name);
    if (shared !== undefined) {
      shared.clients--;
      shared.left = performance.now();
    }
    await client.connection[Symbol.asyncDispose]();
  }

  /** Closes what nobody uses any more. A place outlives its connections, and so does what it has used. */
  private sweep(): void {
    const { idle_ms = HALF_HOUR } = this.options;
    const now = performance.now();
    for (const [id, { busy, used }] of this.clients)
      if (busy === 0 && now - used > idle_ms)
        void this.end(id).catch((error: unknown) => this.options.onError?.(error));
    if (this.places.size <= MOST_PLACES) return;
    const idle = [...this.places].filter(([, { clients }]) => clients === 0).sort(([, a], [, b]) => a.left - b.left);
    for (const [name, { workplace }] of idle.slice(0, this.places.size - MOST_PLACES)) {
      this.places.delete(name);
      void workplace[Symbol.asyncDispose]().catch(() => {});
    }
  }
}

/** The connection that has been silent longest, of those that nothing is under way in. */
function idlest(clients: readonly (readonly [string, Client])[]): string | null {
  const [oldest] = clients.filter(([, { busy }]) => busy === 0).sort(([, a], [, b]) => a.used - b.used);
  return oldest?.[0] ?? null;
}

function isSame(a: Principal, b: Principal): boolean {
  return a.name === b.name && a.role === b.role && a.run === b.run;
}

/** As the protocol has it: an error of JSON-RPC that belongs to no request. */
function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id: null });
  response.writeHead(status, { "content-type": "application/json", connection: "close" }).end(body);
}
