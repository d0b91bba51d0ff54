import { InputError } from "../../core/errors.js";

/** Checks a base address, and finds the place below it. It may hold a secret, so it is not shown. */
export function readUrl(url: unknown, field: string, path: (base: string) => string): URL {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || (parsed.protocol !== "https:" && parsed.protocol !== "http:")) {
    throw new InputError(field, "is none; allowed: a base address such as https://provider.example/v1");
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new InputError(field, "holds a login; give the key as apiKey, and the address without it");
  }
  parsed.pathname = path(parsed.pathname.replace(/\/+$/, ""));
  return parsed;
}

/** A base with a path at its end, whether it had it or not. */
export function pathTo(base: string, path: string): string {
  return base.endsWith(path) ? base : `${base}${path}`;
}

/** A key that cannot stand in a header would be shown in the error of whoever tries. */
export function readKey(key: unknown, field: string): string | null {
  if (key === undefined || key === null) return null;
  if (typeof key === "string" && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new InputError(field, "is none; allowed: a text of ASCII characters without spaces");
}

/** Checks further headers. They may hold secrets too, so their values are not shown. */
export function readHeaders(headers: unknown, field: string): Headers {
  try {
    return new Headers((headers ?? {}) as Record<string, string>);
  } catch {
    throw new InputError(field, "are none; allowed: an object of names and values that HTTP can carry");
  }
}

export function bearer(apiKey: string | null): Readonly<Record<string, string>> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}
