import { posix, win32 } from "node:path";
import { nearest } from "../core/nearest.js";
import { StoreError } from "./durable/errors.js";

/** What a store's URL says. */
export type StoreAddress =
  | { readonly engine: "memory" }
  | { readonly engine: "sqlite"; readonly path: string }
  | { readonly engine: "postgres"; readonly url: string; readonly schema: string };

/** The part of a machine that decides where a user's data goes. */
export interface Surroundings {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

const SCHEMES = ["sqlite", "postgres", "postgresql", "memory"];
const ALLOWED = "allowed: sqlite:<file>, postgres://user@host/database, memory:";
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;
const DEFAULT_SCHEMA = "bursar";
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;

/** The store that is meant when nobody names one: `BURSAR_STORE`, else a file where the platform keeps a user's data. */
export function defaultUrl(surroundings: Surroundings): string {
  const named = surroundings.env.BURSAR_STORE;
  return named === undefined || named === "" ? `sqlite:${defaultFile(surroundings)}` : named;
}

export function defaultFile({ platform, env, home }: Surroundings): string {
  if (platform === "win32") {
    return win32.join(env.LOCALAPPDATA || win32.join(home, "AppData", "Local"), "bursar", "bursar.db");
  }
  if (platform === "darwin") return posix.join(home, "Library", "Application Support", "bursar", "bursar.db");
  // The convention says to ignore a relative path here.
  const data = env.XDG_DATA_HOME;
  const folder = data?.startsWith("/") ? data : posix.join(home, ".local", "share");
  return posix.join(folder, "bursar", "bursar.db");
}

/** Reads the URL of a store. Nothing that may be a password gets into a message. */
export function readAddress(url: unknown, home: string): StoreAddress {
  if (typeof url !== "string" || url.trim() === "") throw wrong(`is empty; ${ALLOWED}`);
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  const rest = scheme === undefined ? url : url.slice(scheme.length + 1);
  switch (scheme) {
    case "memory":
      if (rest !== "") throw wrong("says more than memory:, which takes nothing else");
      return { engine: "memory" };
    case "sqlite":
      return { engine: "sqlite", path: fileOf(rest, home) };
    case "postgres":
    case "postgresql":
      return postgresOf(url);
    case undefined:
      throw wrong(`has no scheme; ${didYouMean(url)}${ALLOWED}`);
    default:
      throw wrong(unknownScheme(scheme, rest));
  }
}

/**
 * `sqlite:x.db`, `sqlite:/x.db` and `sqlite:///x.db`. A `~/` in front is the home folder, because shells expand it in some
 * places (`BURSAR_STORE=sqlite:~/x.db`) and not in others (`--store sqlite:~/x.db`), and nobody means a folder of that name.
 */
function fileOf(rest: string, home: string): string {
  let path = rest;
  if (rest.startsWith("//")) {
    if (!rest.startsWith("///")) {
      throw wrong(
        "names a machine after sqlite://; write sqlite:x.db for a relative path, sqlite:///x.db for an absolute one",
      );
    }
    path = rest.slice(2);
    if (/^\/[a-z]:[\\/]/i.test(path)) path = path.slice(1);
  }
  if (path === "") throw wrong("names no file; write sqlite:x.db");
  if (path === ":memory:") throw wrong("names no file; for a store that lives with the process, write memory:");
  if (path.includes("?")) throw wrong("has parameters, and sqlite: takes none; write sqlite:x.db");
  return /^~[\\/]/.test(path) ? `${home}${path.slice(1)}` : path;
}

/** `?schema=` is ours; all else is the driver's, and stays as it was written. */
function postgresOf(url: string): StoreAddress {
  const [base = "", query] = cut(url, "?");
  const pairs = query === null ? [] : query.split("&");
  const ours = pairs.filter((pair) => pair.startsWith("schema="));
  const others = pairs.filter((pair) => !pair.startsWith("schema="));
  const schema = decoded(ours.at(-1)?.slice("schema=".length)) ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema))
    throw wrong("names a schema that is none; allowed: lower-case letters, digits and _, at most 63");
  return { engine: "postgres", url: others.length === 0 ? base : `${base}?${others.join("&")}`, schema };
}

function cut(text: string, mark: string): [string, string | null] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text without a scheme is offered as a file; what looks like a login is not repeated. */
function didYouMean(text: string): string {
  if (text.includes("@") || /passw/i.test(text)) return "did you mean postgres://…? ";
  return text.length > 200 || /[\p{Cc}?]/u.test(text) ? "" : `did you mean sqlite:${text}? `;
}

function unknownScheme(scheme: string, rest: string): string {
  if (scheme === "file")
    return `has the scheme file:; did you mean sqlite:${rest.replace(/^\/\/(?=\/)/, "")}? ${ALLOWED}`;
  // A name and a colon may be the beginning of a login as well, and then the name is all that is shown.
  const guess = nearest(scheme, SCHEMES);
  const hint = guess === null ? "" : `did you mean ${guess}:${guess.startsWith("postgres") ? "//" : ""}…? `;
  return `has the scheme ${scheme}:, which no store has; ${hint}${ALLOWED}`;
}

function wrong(problem: string): StoreError {
  return new StoreError("store_url", `the URL of the store ${problem}`);
}
