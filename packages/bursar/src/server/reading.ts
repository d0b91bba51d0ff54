import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { nearest } from "../core/nearest.js";
import { readRequestBody } from "../http/request-body.js";
import { findSchemaMismatch } from "../json-schema/schema-validator.js";
import { isDeeper } from "../models/wire/text-scan.js";
import { HttpError } from "./http-error.js";
import type { WireSchema } from "./schemas.js";

const TOLD = "/openapi.json tells what is taken";
/** Deeper than anything that somebody means, and not so deep that it would take all of the stack to walk through. */
const DEEPEST = 200;

function invalid(message: string, hint = TOLD): HttpError {
  return new HttpError(400, { code: "invalid_input", message, hint });
}

/** The query of a request, as its route says. */
export function readQuery(
  search: URLSearchParams,
  schemas: Readonly<Record<string, WireSchema>>,
): Readonly<Record<string, string | number>> {
  const query: Record<string, string | number> = {};
  for (const [name, text] of search) {
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (schema === undefined) {
      const guess = nearest(name, Object.keys(schemas));
      const meant = guess === null ? "" : `; did you mean ${guess}?`;
      throw invalid(`the query ${JSON.stringify(name.slice(0, 40))} is not known here${meant}`);
    }
    if (Object.hasOwn(query, name)) throw invalid(`the query ${name} is there twice`);
    const value = schema.type === "integer" && /^-?\d{1,16}$/.test(text) ? Number(text) : text;
    const problem = findSchemaMismatch(value, schema, name);
    if (problem !== null) throw invalid(problem);
    query[name] = value;
  }
  return query;
}

/** The body of a request, as its route says. */
export async function readBody(
  incoming: IncomingMessage,
  schema: WireSchema,
  most: number,
): Promise<Readonly<Record<string, unknown>>> {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = incoming.headers;
  // A form on a page of somebody else can send three other types without being asked, and this one not.
  if (!/^application\/json *(?:;|$)/i.test(type)) {
    const message = `the body is of type ${JSON.stringify(type.slice(0, 80))}`;
    const hint = "send JSON, with the header `Content-Type: application/json`";
    throw new HttpError(415, { code: "not_json", message, hint, headers: { connection: "close" } });
  }
  if (encoding.toLowerCase() !== "identity") {
    const message = `the body is encoded as ${JSON.stringify(encoding.slice(0, 40))}`;
    throw new HttpError(415, { code: "encoded", message, hint: "send it as it is", headers: { connection: "close" } });
  }
  const bytes = await readRequestBody(incoming, { mostBytes: most }).catch(() => {
    // Whoever hangs up in the middle is no fault of ours; he does not hear this.
    throw new HttpError(400, { code: "cut_off", message: "the body is not whole", hint: "send it again" });
  });
  if (bytes === null) {
    const message = `the body is longer than ${most} bytes`;
    throw new HttpError(413, { code: "too_long", message, hint: "send less", headers: { connection: "close" } });
  }
  const value = parsed(bytes);
  const problem = findSchemaMismatch(value, schema, "body");
  if (problem !== null) throw invalid(problem);
  return value as Readonly<Record<string, unknown>>;
}

function parsed(bytes: Buffer): unknown {
  // Nothing is what there is to say to many routes.
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes)) throw invalid("the body is no text in UTF-8", "send JSON in UTF-8");
  const text = bytes.toString("utf8");
  if (isDeeper(text, DEEPEST)) throw invalid(`the body is nested more than ${DEEPEST} deep`, "send something flatter");
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    throw invalid(`the body is no JSON: ${why.slice(0, 200)}`, "send JSON");
  }
}
