import { MemoryStore, openBursar } from "bursar";

const METHODS = ["get", "post", "put", "patch", "delete"];

/** The HTTP API as the server itself describes it. */
export async function writeRoutesPage() {
  const { paths, components = {} } = await describedByServer();
  const parts = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => printRoute(path, method, item)),
  );
  const shapes = Object.entries(components.schemas ?? {}).map(([name, schema]) => printShape(name, schema));
  return `# HTTP API

As \`GET /openapi.json\` of a running server describes it. What goes wrong is answered with a status of 400 or above and a \`Failure\`.

${parts.join("\n\n")}

## Shapes

${shapes.join("\n\n")}
`;
}

async function describedByServer() {
  const { openServer } = await import("bursar/server");
  const store = new MemoryStore();
  const bursar = openBursar({ store });
  const server = await openServer({ store, bursar, port: 0 });
  try {
    return await (await fetch(`${server.url}/openapi.json`)).json();
  } finally {
    await server[Symbol.asyncDispose]();
    await bursar[Symbol.asyncDispose]();
  }
}

function printRoute(path, method, item) {
  const { summary = "", description = "", parameters = [], requestBody, responses = {} } = item[method];
  const taken = [...(item.parameters ?? []), ...parameters].filter(({ name }) => name !== undefined);
  const rows = taken.map(({ name, in: place, required, schema = {}, description: what = "" }) => {
    return `| \`${name}\` | ${place}${required ? ", needed" : ""} | ${cell([typeOf(schema), what].filter(Boolean).join("; "))} |`;
  });
  const body = requestBody === undefined ? [] : [`Body: ${contentOf(requestBody)}`];
  const answers = Object.entries(responses)
    .filter(([status]) => status !== "default")
    .map(([status, each]) => `Answer ${status}: ${contentOf(each)}`);
  const table = rows.length === 0 ? [] : [["| parameter | in | |", "|---|---|---|", ...rows].join("\n")];
  const title = `## ${method.toUpperCase()} ${path}`;
  return [title, summary, description, ...table, ...body, ...answers].filter((part) => part !== "").join("\n\n");
}

function printShape(name, schema) {
  const needed = schema.required ?? [];
  const rows = Object.entries(schema.properties ?? {}).map(([key, value]) => {
    const what = [typeOf(value), value.description].filter(Boolean).join("; ");
    return `| \`${key}\`${needed.includes(key) ? "" : " (or absent)"} | ${cell(what)} |`;
  });
  const told = schema.description === undefined ? [] : [schema.description];
  const table = rows.length === 0 ? [cell(typeOf(schema))] : [["| member | |", "|---|---|", ...rows].join("\n")];
  return [`### ${name}`, ...told, ...table].join("\n\n");
}

/** What is sent or answered: a shape, or the type of what is no JSON. */
function contentOf({ content = {} }) {
  const schema = content["application/json"]?.schema;
  if (schema !== undefined) return typeOf(schema);
  const types = Object.entries(content).map(([type, { schema: of }]) => {
    return of === undefined ? `\`${type}\`` : `\`${type}\`, ${typeOf(of)}`;
  });
  return types.length === 0 ? "nothing" : types.join(", ");
}

/** A schema in a few words. */
function typeOf(schema) {
  if (typeof schema.$ref === "string") return `\`${schema.$ref.split("/").at(-1)}\``;
  const some = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (some !== undefined) return some.map(typeOf).join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((each) => `\`${JSON.stringify(each)}\``).join(", ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  const names = Object.entries(schema.properties ?? {}).map(([name, value]) => `\`${name}\`: ${typeOf(value)}`);
  if (names.length > 0) return `{ ${names.join(", ")} }`;
  return [schema.type ?? "anything"].flat().join(" or ");
}

function cell(text) {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
