import { expect } from "vitest";
import { z } from "zod";

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, { schema?: object }>> }>>;
}

/** Holds answers against the server's own description, read by somebody else's validator. */
export class Description {
  private readonly described: Described;
  private readonly known = new Map<object, z.ZodType>();
  readonly seen = new Set<string>();

  constructor(described: unknown) {
    this.described = described as Described;
  }

  static async of(url: string, headers: Record<string, string> = {}): Promise<Description> {
    return new Description(await (await fetch(`${url}/openapi.json`, { headers })).json());
  }

  /** Every way into the server, as `GET /api/v1/runs/{id}`. */
  get operations(): readonly string[] {
    return Object.entries(this.described.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
  }

  /** Fails when an answer is not what the description says. */
  check(method: string, pathname: string, status: number, type: string, body: unknown): void {
    const found = this.find(method, pathname);
    if (found === null) {
      // What is not described is not there.
      expect([401, 403, 404, 405, 429, 503], `${method} ${pathname}`).toContain(status);
      return;
    }
    const { name, operation } = found;
    const response = operation.responses[String(status)] ?? operation.responses.default;
    if (status < 300) {
      expect(Object.keys(operation.responses), name).toContain(String(status));
      this.seen.add(name);
    }
    const [[stated, { schema }] = ["", {}]] = Object.entries(response?.content ?? {});
    expect(type.split(";")[0], name).toBe(stated.split(";")[0]);
    if (schema === undefined) return;
    const parsed = this.validator(schema).safeParse(body);
    expect(parsed.error?.issues ?? [], `${name} ${status}`).toEqual([]);
  }

  private find(method: string, pathname: string): { name: string; operation: Operation } | null {
    const asked = pathname.split("/");
    for (const [path, methods] of Object.entries(this.described.paths)) {
      const parts = path.split("/");
      const operation = methods[method.toLowerCase()];
      const fits =
        parts.length === asked.length && parts.every((part, at) => part.startsWith("{") || part === asked[at]);
      if (fits && operation !== undefined) return { name: `${method} ${path}`, operation };
    }
    return null;
  }

  private validator(schema: object): z.ZodType {
    const known = this.known.get(schema);
    if (known !== undefined) return known;
    const made = z.fromJSONSchema(this.resolved(schema) as Parameters<typeof z.fromJSONSchema>[0]);
    this.known.set(schema, made);
    return made;
  }

  /** The schema with all that it refers to, and closed, so that nothing is sent which nobody has described. */
  private resolved(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((each) => this.resolved(each));
    if (typeof schema !== "object" || schema === null) return schema;
    if ("$ref" in schema) {
      const name = String(schema.$ref).replace("#/components/schemas/", "");
      return this.resolved(this.described.components.schemas[name]);
    }
    const entries = Object.entries(schema).map(([key, value]) => [key, key === "enum" ? value : this.resolved(value)]);
    const whole = Object.fromEntries(entries) as Record<string, unknown>;
    return "properties" in whole && !("additionalProperties" in whole)
      ? { ...whole, additionalProperties: false }
      : whole;
  }
}
