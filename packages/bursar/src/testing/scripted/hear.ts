import type { IncomingHttpHeaders } from "node:http";
import { InputError } from "../../core/errors.js";
import type { Failure } from "./errors.js";
import { type Heard, parseBody, readModel } from "./request.js";
import type { Route } from "./routes.js";

/** Reads a request, or says what is wrong with it. */
export function hear(
  text: string,
  about: {
    readonly path: string;
    readonly route: Exclude<Route, { kind: "models" }>;
    readonly headers: IncomingHttpHeaders;
    readonly number: number;
  },
): Heard | Failure {
  const { path, number } = about;
  const { kind, wire } = about.route;
  const headers = Object.fromEntries(Object.entries(about.headers).map(([name, value]) => [name, String(value)]));
  try {
    const body = parseBody(text);
    const model = readModel(body);
    const { terms, ...reading } = wire.read(body, about.headers, kind);
    return { request: { number, protocol: wire.protocol, path, model, ...reading, body, headers }, terms };
  } catch (error) {
    if (error instanceof InputError) return { status: 400, message: error.message, param: error.field };
    // Nobody can write down again what is nested too deeply.
    if (error instanceof RangeError) return { status: 400, message: "the body is nested too deeply" };
    throw error;
  }
}
