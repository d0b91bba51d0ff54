import type { IncomingMessage, ServerResponse } from "node:http";
import type { Hosts } from "./hosts.js";
import { FAILED, HttpError, httpErrorOf } from "./http-error.js";
import type { Pace } from "./pace.js";
import type { Page } from "./page.js";
import { refuseProxied } from "./proxied.js";
import { readBody, readQuery } from "./reading.js";
import type { Found, Reply, Routes } from "./route.js";
import { suffices } from "./route.js";
import { setSecurityHeaders } from "./security-headers.js";
import type { Role } from "./tokens.js";
import { tooOften } from "./too-often.js";
import type { Visitor } from "./visitors.js";
import type { World } from "./world.js";

export interface RequestsOptions {
  readonly world: World;
  readonly routes: Routes;
  readonly hosts: Hosts;
  readonly pace: Pace;
  readonly page: Page | null;
}

/** One request, with what is known of it so far. */
interface Visit {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly began: number;
  path: string;
  route: string;
  name: string | null;
}

const MCP = "/mcp";

/** Serves requests, one by one. Whatever goes wrong, the client gets an answer that says so, without a secret in it. */
export class Requests {
  /** Set when no more are taken. */
  closing = false;
  private readonly options: RequestsOptions;
  private readonly underWay = new Set<Promise<void>>();

  constructor(options: RequestsOptions) {
    this.options = options;
  }

  serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "" } = incoming;
    const began = this.options.world.store.clock.now().monotonic;
    const visit: Visit = { incoming, response, method, began, path: "", route: "none", name: null };
    // What is written to who has left is lost, and that is all.
    response.on("error", () => {});
    const served = this.handle(visit)
      .catch((error: unknown) => this.fail(visit, error))
      .then(() => this.tell(visit));
    this.underWay.add(served);
    return served.finally(() => this.underWay.delete(served));
  }

  /** Waits until everything under way has come to its end. */
  async settled(): Promise<void> {
    while (this.underWay.size > 0) await Promise.allSettled([...this.underWay]);
  }

  private async handle(visit: Visit): Promise<void> {
    const { incoming, response, method } = visit;
    const { world, routes, hosts } = this.options;
    if (this.closing) throw CLOSING;
    const target = targetOf(incoming.url ?? "");
    visit.path = target.pathname;
    const { gateway, mcp } = world.settings.mounts;
    if (gateway?.prefixes.some((prefix) => isBelow(target.pathname, prefix)) === true) {
      visit.route = "gateway";
      // It guards itself, by keys; names and origins are its own matter too.
      return gateway.handle(incoming, response);
    }
    setSecurityHeaders(response, world.settings.tls !== null);
    const found = routes.find(method, target.pathname);
    if (found?.route.path !== "/health") {
      hosts.checkHost(incoming.headers);
      if (!world.settings.demanding) refuseProxied(incoming);
    }
    if (found !== null) return this.answer(visit, found, target.searchParams);
    if (mcp !== undefined && isBelow(target.pathname, MCP)) {
      visit.route = "mcp";
      hosts.checkOrigin(incoming.headers);
      const { principal } = await this.visitor(visit, "viewer");
      return mcp(incoming, response, principal);
    }
    this.showPage(visit, target.pathname);
  }

  private async answer(visit: Visit, { route, params }: Found, search: URLSearchParams): Promise<void> {
    const { incoming, response } = visit;
    const { world, hosts } = this.options;
    visit.route = route.path;
    if (route.path.startsWith("/api/") || route.method !== "GET") hosts.checkOrigin(incoming.headers);
    const visitor = route.role === null ? null : await this.visitor(visit, route.role);
    if (visitor === null) this.hurry(addressOf(incoming));
    const query = readQuery(search, route.query ?? {});
    const { body_bytes } = world.settings;
    const body = route.body === undefined ? {} : await readBody(incoming, route.body, body_bytes);
    write(response, await route.serve({ params, query, body, visitor, incoming, response }));
  }

  /** Who asks, if he may; throws otherwise. */
  private async visitor(visit: Visit, least: Role): Promise<Visitor> {
    const { world } = this.options;
    const { incoming } = visit;
    const visitor = await world.visitors.find(incoming).catch(async (error: unknown) => {
      if (error instanceof HttpError && error.code === "unauthorized") await this.failed(incoming);
      throw error;
    });
    const { name, role } = visitor.principal;
    visit.name = name;
    this.hurry(visitor.token ?? addressOf(incoming));
    if (suffices(role, least)) return visitor;
    const message = `${name} is ${role}; this takes ${least} at least`;
    const hint = "use a token of a role that may, or ask somebody who has one";
    throw new HttpError(403, { code: "forbidden", message, hint });
  }

  /** A token that is none costs as much as a login that failed. */
  private async failed(incoming: IncomingMessage): Promise<void> {
    const { strict, failures } = this.options.world;
    const address = addressOf(incoming);
    const wait_ms = strict.take(address);
    if (wait_ms > 0) throw tooOften(wait_ms);
    await failures.note(address);
  }

  private hurry(who: string): void {
    const wait_ms = this.options.pace.take(who);
    if (wait_ms > 0) throw tooOften(wait_ms);
  }

  private showPage(visit: Visit, pathname: string): void {
    const { incoming, response, method } = visit;
    const { page } = this.options;
    visit.route = "page";
    this.hurry(addressOf(incoming));
    const isOurs = isBelow(pathname, "/api") || isBelow(pathname, MCP);
    const looks = method === "GET" || method === "HEAD";
    if (page !== null && looks && !isOurs && page.serve(pathname, incoming, response)) return;
    const message = `there is nothing at ${method.slice(0, 20)} ${pathname.slice(0, 200)}`;
    throw new HttpError(404, { code: "not_found", message, hint: hintFor(pathname, page !== null) });
  }

  private fail({ response }: Visit, error: unknown): void {
    const told = httpErrorOf(error);
    if (told === null || told.status >= 500) this.complain(error);
    if (response.destroyed || response.writableEnded) return;
    // What has begun cannot be taken back; the client has to see that it is not whole.
    if (response.headersSent) response.destroy();
    else {
      const { status, code, message, hint, headers } = told ?? FAILED;
      write(response, { kind: "json", status, body: { error: { code, message, hint } }, headers });
    }
  }

  private tell({ method, path, route, name, response, began }: Visit): void {
    const { world } = this.options;
    const { settings, metrics, store } = world;
    const status = response.headersSent ? response.statusCode : 0;
    metrics.count(KNOWN_METHODS.has(method) ? method : "other", route, status);
    const duration_ms = Math.max(0, Math.round(store.clock.now().monotonic - began));
    try {
      settings.onServed({ method, path, route, status, name, duration_ms });
    } catch (error) {
      this.complain(error);
    }
  }

  /** Whoever listens cannot make the server fail. */
  private complain(error: unknown): void {
    try {
      this.options.world.settings.onError(error);
    } catch {
      // There is nobody else to tell.
    }
  }
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"]);

const CLOSING: HttpError = new HttpError(503, {
  code: "server_closing",
  message: "the server is about to end, and takes no more requests",
  hint: "try again in a moment",
  headers: { connection: "close", "retry-after": "1" },
});

function targetOf(url: string): URL {
  // Two slashes would begin the name of a host.
  const path = url.startsWith("/") ? `http://server/${url.replace(/^[/\\]+/, "")}` : url;
  if (/^https?:\/\//i.test(path) && URL.canParse(path)) return new URL(path);
  throw new HttpError(400, {
    code: "invalid_input",
    message: "this is the address of nothing",
    hint: "ask for a path",
  });
}

/** What somebody may have looked for where there is nothing. */
function hintFor(pathname: string, hasPage: boolean): string {
  if (!hasPage && pathname === "/") return "this server has no page; it has an API";
  const isGateway = isBelow(pathname, "/v1") || isBelow(pathname, "/bursar");
  return isGateway ? "this server has no gateway; start it with a provider's key or --upstream" : "see /openapi.json";
}

function isBelow(pathname: string, prefix: string): boolean {
  return pathname === prefix || pathname.startsWith(`${prefix}/`);
}

function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress ?? "";
}

function write(response: ServerResponse, reply: Reply): void {
  if (reply.kind === "written") return;
  const [type, text] =
    reply.kind === "json" ? ["application/json; charset=utf-8", JSON.stringify(reply.body)] : [reply.type, reply.text];
  const bytes = Buffer.from(text);
  const headers = { "cache-control": "no-store", "content-type": type, "content-length": bytes.length };
  const { status = 200, headers: more = {} } = reply.kind === "json" ? reply : {};
  response.writeHead(status, { ...headers, ...more });
  response.end(bytes);
}
