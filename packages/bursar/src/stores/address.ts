import { posix, win32 } from "node:path";
import { show } from "../core/errors.js";
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

/** What a wrong URL is answered with: only stores that are taken where it was given. */
interface Offer {
  readonly schemes: readonly string[];
  readonly allowed: string;
  readonly memory: boolean;
}

const DURABLE = ["sqlite", "postgres", "postgresql"];
const ALLOWED = "allowed: sqlite:<file>, postgres://user@host/database";
const OFFERS: Readonly<Record<Wanted, Offer>> = {
  any: { schemes: [...DURABLE, "memory"], allowed: `${ALLOWED}, memory:`, memory: true },
  durable: { schemes: DURABLE, allowed: ALLOWED, memory: false },
};

/** Which stores make sense: any, or only those that another process can find. */
export type Wanted = "any" | "durable";

const SCHEME = /^([a-z][a-z0-9+.-]+):/i;
const DEFAULT_SCHEMA = "bursar";
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
const SERVER = /^postgres(?:ql)?:\/\/([^/?#]*)(.*)$/is;
const MEND =
  "allowed: postgres://user@host/database, or postgres://user:password@host:5432/database; " +
  "percent-encode # / ? % @ : in user and password, as in %23";

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
export function readAddress(url: unknown, home: string, wanted: Wanted = "any"): StoreAddress {
  const offer = OFFERS[wanted];
  if (typeof url !== "string") throw wrong(`is ${show(url)}; ${offer.allowed}`);
  if (url.trim() === "") throw wrong(`is empty; ${offer.allowed}`);
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  const rest = scheme === undefined ? url : url.slice(scheme.length + 1);
  switch (scheme) {
    case "memory":
      if (rest !== "") throw wrong(`says more than memory:, which takes nothing else; ${offer.allowed}`);
      return { engine: "memory" };
    case "sqlite":
      return { engine: "sqlite", path: fileOf(rest, home, offer) };
    case "postgres":
    case "postgresql":
      return postgresOf(url);
    case undefined:
      throw wrong(`has no scheme; ${didYouMean(url)}${offer.allowed}`);
    default:
      throw wrong(unknownScheme(scheme, rest, offer));
  }
}

/**
 * `sqlite:x.db`, `sqlite:/x.db` and `sqlite:///x.db`. A `~/` in front is the home folder, because shells expand it in some
 * places (`BURSAR_STORE=sqlite:~/x.db`) and not in others (`--store sqlite:~/x.db`), and nobody means a folder of that name.
 */
function fileOf(rest: string, home: string, { memory }: Offer): string {
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
  if (path === ":memory:") {
    throw wrong(`names no file; write ${memory ? "memory: for a store that lives with the process" : "sqlite:x.db"}`);
  }
  if (path.includes("?")) throw wrong("has parameters, and sqlite: takes none; write sqlite:x.db");
  return /^~[\\/]/.test(path) ? `${home}${path.slice(1)}` : path;
}

/**
 * Throws when the URL of a server is not one, or may be read in two ways: with a `/` in its password, another machine would
 * be asked, and the password would be a part of the database's name.
 */
export function checkServer(url: string): void {
  const [, authority, rest = ""] = SERVER.exec(url) ?? [];
  if (authority === undefined) throw wrong(`has no // after postgres:; ${MEND}`);
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  if (rest.includes("#")) throw wrong(`has a #; ${MEND}`);
  const [path] = cut(rest, "?");
  const astray = authority.includes("@") ? path.includes("@") : rest.includes("@");
  if (astray || authority.indexOf("@") !== authority.lastIndexOf("@")) throw wrong(`has an @ too many; ${MEND}`);
  if (host === "" || host.startsWith(":")) throw wrong(`names no host; ${MEND}`);
  if (decoded(authority + path) === null) throw wrong(`has a % that encodes nothing; ${MEND}`);
  // Several hosts are the driver's to choose from; the URL of a server has one.
  const [first = ""] = host.split(",");
  if (!URL.canParse(`postgres://${first}`) || !host.split(",").every(hasPort)) {
    throw wrong(`has a host or a port that is none; ${MEND}`);
  }
}

function hasPort(host: string): boolean {
  const port = /:(\d{1,5})$/.exec(host)?.[1];
  const plain = /^(?:\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.test(host);
  return plain && (port === undefined || (Number(port) > 0 && Number(port) < 65_536));
}

/** `?schema=` is ours; all else is the driver's, and stays as it was written. */
function postgresOf(url: string): StoreAddress {
  checkServer(url);
  const [base, query] = cut(url, "?");
  const pairs = query === null ? [] : query.split("&");
  for (const pair of pairs) checkParameter(pair);
  const ours = pairs.filter((pair) => pair.startsWith("schema="));
  const others = pairs.filter((pair) => !pair.startsWith("schema="));
  const schema = decoded(ours.at(-1)?.slice("schema=".length) ?? DEFAULT_SCHEMA) ?? "";
  if (!SCHEMA.test(schema))
    throw wrong("names a schema that is none; allowed: lower-case letters, digits and _, at most 63");
  return { engine: "postgres", url: others.length === 0 ? base : `${base}?${others.join("&")}`, schema };
}

function cut(text: string, mark: string): [string, string | null] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

/** A parameter that is nearly ours would go to the server, which says of it what only its keepers understand. */
function checkParameter(pair: string): void {
  if (pair.startsWith("schema=")) return;
  const [name] = cut(pair, "=");
  if (nearest(name.toLowerCase(), ["schema"]) === null) return;
  throw wrong("has a parameter that is not known; did you mean schema=<name>?");
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A text without a scheme is offered as a file; what looks like a login is not repeated. */
function didYouMean(text: string): string {
  if (text.includes("@") || /passw/i.test(text)) return "did you mean postgres://…? ";
  return text.length > 200 || /[\p{Cc}?]/u.test(text) ? "" : `did you mean sqlite:${text}? `;
}

function unknownScheme(scheme: string, rest: string, { schemes, allowed }: Offer): string {
  if (scheme === "file") {
    const file = rest.includes("@") ? "…" : rest.replace(/^\/\/(?=\/)/, "");
    return `has the scheme file:; did you mean sqlite:${file}? ${allowed}`;
  }
  // A name and a colon may be the beginning of a login as well, and then the name is all that is shown.
  const guess = nearest(scheme, schemes);
  const hint = guess === null ? "" : `did you mean ${guess}:${guess.startsWith("postgres") ? "//" : ""}…? `;
  return `has the scheme ${scheme}:, which no store has; ${hint}${allowed}`;
}

function wrong(problem: string): StoreError {
  return new StoreError("store_url", `the URL of the store ${problem}`);
}
