import { InputError, show } from "../../core/errors.js";
import { NONE_ALLOWED } from "../wire/known-members.js";

/**
 * Members of a body, headers (`x-portkey-config`) and parameters of an address (`?model`) that are sent to a host though they may
 * choose another model or bring input from elsewhere. The key is a host such as `openrouter.ai` or `localhost:4000`; `*` is any.
 */
export type AllowedMembers = Readonly<Record<string, readonly string[]>>;

const ANY_HOST = "*";
const NAME = /^\??[A-Za-z0-9_][\w.-]{0,127}$/;

/** Checks a list of names. */
export function readAllowedNames(names: unknown, field: string): ReadonlySet<string> {
  if (names === undefined) return NONE_ALLOWED;
  if (Array.isArray(names) && names.every((name) => typeof name === "string" && NAME.test(name))) {
    return new Set<string>(names.map((name: string) => (isHeader(name) ? name.toLowerCase() : name)));
  }
  throw new InputError(field, `is ${show(names)}; allowed: a list of names, such as ["provider", "x-portkey-config"]`);
}

/** What is allowed at each address. */
export class Allowance {
  private readonly hosts = new Map<string, ReadonlySet<string>>();

  constructor(allow: unknown) {
    if (allow === undefined) return;
    if (typeof allow !== "object" || allow === null || Array.isArray(allow)) {
      throw new InputError(
        "allow",
        `is ${show(allow)}; allowed: lists of names by host, as { "openrouter.ai": ["provider"] }`,
      );
    }
    for (const [host, names] of Object.entries(allow)) {
      this.hosts.set(host.toLowerCase(), readAllowedNames(names, `allow.${host}`));
    }
  }

  /** The names that are allowed at an address; null stands for one that does not show. */
  at(url: string | null): ReadonlySet<string> {
    const { hosts } = this;
    if (hosts.size === 0) return NONE_ALLOWED;
    const { host = "", hostname = "" } = url !== null && URL.canParse(url) ? new URL(url) : {};
    const all = [ANY_HOST, hostname, host].map((each) => hosts.get(each)).filter((each) => each !== undefined);
    return all.length === 1 ? (all[0] as ReadonlySet<string>) : new Set(all.flatMap((each) => [...each]));
  }
}

/** The names that are allowed at one address, out of those by host. */
export function allowedNames(allow: AllowedMembers, url: string): readonly string[] {
  return [...new Allowance(allow).at(url)];
}

/** Names of headers have dashes, and no case. */
function isHeader(name: string): boolean {
  return name.includes("-") && !name.startsWith("?");
}
