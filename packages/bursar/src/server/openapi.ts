import type { Route } from "./route.js";
import type { WireSchema } from "./schemas.js";
import { SCHEMAS } from "./schemas.js";

/** What differs from one server to the next. */
interface About {
  readonly version: string;
  /** The name of the cookie that a login sets, which is another one over HTTPS. */
  readonly cookie: string;
}

/** A description of the API, made of the routes that serve it: what is not here is not there. */
export function describeApi(routes: readonly Route[], { version, cookie }: About): unknown {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  const schemas = Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [name, written(schema, true)]));
  return {
    openapi: "3.1.0",
    info: {
      title: "Bursar",
      version,
      description: "Hard budgets for AI agents. Amounts are in edge units: dollars, whole tokens, milliseconds.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A token of `bursar tokens create`." },
        login: { type: "apiKey", in: "cookie", name: cookie, description: "What POST /api/v1/login sets." },
      },
    },
  };
}

function operation(route: Route): unknown {
  const { method, path, summary, role, query = {}, body, answer, otherwise } = route;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query).map(([name, schema]) => ({ name, in: "query", schema: written(schema) }));
  const content = contentOf(answer);
  return {
    summary,
    operationId: `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+(\w)/g, (_, first: string) => first.toUpperCase())}`,
    ...(role !== null && { description: `For ${role} and above.`, security: [{ token: [] }, { login: [] }, {}] }),
    ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { "application/json": { schema: written(body) } } },
    }),
    responses: {
      [answer.status]: { description: summary, content },
      ...(otherwise !== undefined && { [otherwise.status]: { description: otherwise.summary, content } }),
      default: {
        description: "What went wrong, and what to do.",
        content: { "application/json": { schema: written(SCHEMAS.Failure) } },
      },
    },
  };
}

/** A stream of events is written as the list of all that comes: OpenAPI has no other word for it yet. */
function contentOf(answer: Route["answer"]): unknown {
  if ("schema" in answer) return { "application/json": { schema: written(answer.schema) } };
  const { type, events } = answer;
  if (events === undefined) return { [type]: {} };
  const description = "One after the other, for as long as the client listens; `data` stands in its line as JSON.";
  return { [type]: { schema: { type: "array", description, items: { anyOf: events.map((each) => written(each)) } } } };
}

const NAMES: ReadonlyMap<WireSchema, string> = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [schema, name]));

/** A schema in which those that have a name stand by it. */
function written(schema: WireSchema, whole = false): unknown {
  const name = whole ? undefined : NAMES.get(schema);
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  const { properties, items, anyOf, additionalProperties: further } = schema;
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, written(each)])),
    }),
    ...(items !== undefined && { items: written(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map((each) => written(each)) }),
    ...(typeof further === "object" && { additionalProperties: written(further) }),
  };
}
