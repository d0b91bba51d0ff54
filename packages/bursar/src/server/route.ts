import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { HttpError } from "./http-error.js";
import type { WireSchema } from "./schemas.js";
import type { Role } from "./tokens.js";
import type { Visitor } from "./visitors.js";

type Method = "GET" | "POST" | "DELETE";

/** What somebody asks for, as far as a route is concerned. */
export interface Asked {
  /** What stands in the path in place of the names with a colon. */
  readonly params: Readonly<Record<string, string>>;
  /** Whole numbers are numbers here. */
  readonly query: Readonly<Record<string, string | number>>;
  /** As the route's schema says. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly visitor: Visitor | null;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
}

/** What a route answers: JSON, a text of another kind, or what it has written itself. */
export type Reply =
  | { readonly kind: "json"; readonly status: number; readonly body: unknown; readonly headers?: OutgoingHttpHeaders }
  | { readonly kind: "text"; readonly type: string; readonly text: string }
  | { readonly kind: "written" };

export const WRITTEN: Reply = { kind: "written" };

export function json(body: unknown, status = 200, headers: OutgoingHttpHeaders = {}): Reply {
  return { kind: "json", status, body, headers };
}

/** Everything that is known of one way into the server: what serves it, what guards it and what describes it is this. */
export interface Route {
  readonly method: Method;
  /** With names for what varies: `/api/v1/runs/:id`. */
  readonly path: string;
  readonly summary: string;
  /** The least that one has to be; null for routes that serve everybody, known or not. */
  readonly role: Role | null;
  readonly query?: Readonly<Record<string, WireSchema>>;
  readonly body?: WireSchema;
  /** The status of success, with the schema of the JSON or with the type of what it is instead. */
  readonly answer:
    | { readonly status: number; readonly schema: WireSchema }
    /** With the events, where it is a stream of them. */
    | { readonly status: number; readonly type: string; readonly events?: readonly WireSchema[] };
  /** Another status of success, with the same answer, and when it is given. */
  readonly otherwise?: { readonly status: number; readonly summary: string };
  serve(asked: Asked): Promise<Reply> | Reply;
}

const MAY: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ["viewer", "agent", "operator", "admin"],
  agent: ["agent", "operator", "admin"],
  operator: ["operator", "admin"],
  admin: ["admin"],
};

/** Whether somebody of one role may do what takes another at least. */
export function suffices(role: Role, least: Role): boolean {
  return MAY[least].includes(role);
}

interface Parted {
  readonly route: Route;
  readonly parts: readonly string[];
}

export interface Found {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** All ways into the server. */
export class Routes {
  readonly all: readonly Route[];
  private readonly byLength = new Map<number, Parted[]>();

  constructor(routes: readonly Route[]) {
    this.all = routes;
    for (const route of routes) {
      const parts = route.path.split("/");
      const same = this.byLength.get(parts.length) ?? [];
      same.push({ route, parts });
      this.byLength.set(parts.length, same);
    }
  }

  /** Null when the path is the server's no matter what is asked of it; throws when it is there for other methods alone. */
  find(method: string, pathname: string): Found | null {
    const asked = pathname.split("/");
    const there = (this.byLength.get(asked.length) ?? []).filter(({ parts }) => fits(parts, asked));
    if (there.length === 0) return null;
    const wanted = method === "HEAD" ? "GET" : method;
    // A path that is written out is meant before one with a name in it.
    const found = there.filter(({ route }) => route.method === wanted).sort((a, b) => names(a) - names(b))[0];
    if (found !== undefined) return { route: found.route, params: paramsOf(found.parts, asked) };
    const allow = [...new Set(there.map(({ route }) => route.method))].join(", ");
    const message = `${method.slice(0, 20)} is nothing that can be asked of ${pathname.slice(0, 200)}`;
    throw new HttpError(405, { code: "wrong_method", message, hint: `ask with ${allow}`, headers: { allow } });
  }
}

function fits(parts: readonly string[], asked: readonly string[]): boolean {
  return parts.every((part, index) => part === asked[index] || (part.startsWith(":") && asked[index] !== ""));
}

function names({ parts }: Parted): number {
  return parts.filter((part) => part.startsWith(":")).length;
}

function paramsOf(parts: readonly string[], asked: readonly string[]): Readonly<Record<string, string>> {
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    if (part.startsWith(":")) params[part.slice(1)] = decoded(asked[index] ?? "");
  }
  return params;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    const message = `${JSON.stringify(text.slice(0, 80))} is not encoded as addresses are`;
    throw new HttpError(400, { code: "invalid_input", message, hint: "encode ids with encodeURIComponent()" });
  }
}
