import type { Home, UpstreamOptions } from "bursar/gateway";
import { UsageError } from "../app/errors.js";
import { type Given, listOf } from "./run-flags.js";

type Environment = Readonly<Record<string, string | undefined>>;

export const UPSTREAMS_HELP = `Upstreams are those of --upstream, and else OpenAI where OPENAI_API_KEY is set
(at OPENAI_BASE_URL, if that is) and Anthropic where ANTHROPIC_API_KEY is. The
key of an upstream stands in BURSAR_UPSTREAM_<NAME>_KEY, such as
BURSAR_UPSTREAM_OPENAI_KEY, and is never shown to anybody. Paths may begin with
the name of an upstream, as /openai/v1/chat/completions; without one the first
that speaks so is taken.`;

/** The providers that are known by name, with what their own SDKs read. */
const KNOWN: readonly { readonly name: Home; readonly url: string; readonly variable: string }[] = [
  { name: "openai", url: "https://api.openai.com/v1", variable: "OPENAI" },
  { name: "anthropic", url: "https://api.anthropic.com/v1", variable: "ANTHROPIC" },
];

/** Where requests go, from flags or from the environment. */
export function readUpstreams(flags: Given, env: Environment): readonly UpstreamOptions[] {
  const given = listOf(flags, "upstream").map((text) => readUpstream(text, env));
  if (given.length > 0) return given;
  const found = KNOWN.flatMap(({ name, url, variable }) => {
    const key = keyFor(name, env) ?? env[`${variable}_API_KEY`];
    if (key === undefined || key === "") return [];
    const base = env[`${variable}_BASE_URL`] || url;
    return [upstream(name, name === "anthropic" ? versioned(base) : base, key, `${variable}_BASE_URL`)];
  });
  if (found.length > 0) return found;
  throw new UsageError(
    "there is no provider to send requests to; set OPENAI_API_KEY or ANTHROPIC_API_KEY, or name one with --upstream",
  );
}

/** Whether anything says where requests go. */
export function hasUpstreams(flags: Given, env: Environment): boolean {
  const named = KNOWN.some(({ name, variable }) => keyFor(name, env) ?? (env[`${variable}_API_KEY`] || undefined));
  return named || listOf(flags, "upstream").length > 0;
}

const LOCAL: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]", "0.0.0.0"]);

/** Refuses a gateway that would be its own provider, as when its clients' variables are set where it is started. */
export function refuseItself(upstreams: readonly UpstreamOptions[], port: number): void {
  const itself = upstreams.find(({ url }) => {
    const { hostname, port: to } = new URL(url);
    return LOCAL.has(hostname) && to === String(port);
  });
  if (itself === undefined) return;
  throw new UsageError(
    `${itself.name} would be this gateway itself, at ${itself.url}; unset the variables of its clients here, or name it with --upstream`,
  );
}

function readUpstream(text: string, env: Environment): UpstreamOptions {
  const [, name, url] = /^([^=/]{1,64})=(.+)$/s.exec(text) ?? [];
  if (name === undefined || url === undefined) {
    throw new UsageError("--upstream has no name; write --upstream openai=https://api.openai.com/v1");
  }
  const own = KNOWN.find((known) => known.name === name);
  // The key of a provider goes to that provider, and nowhere else unless it is said.
  const isHome = own !== undefined && hostOf(url) === hostOf(own.url);
  const key = keyFor(name, env) ?? (isHome ? env[`${own.variable}_API_KEY`] : undefined);
  return upstream(name, url, key, "--upstream");
}

function upstream(name: string, url: string, key: string | undefined, from: string): UpstreamOptions {
  if (hostOf(url) === null) throw new UsageError(`${from} is no address; write it as https://api.openai.com/v1`);
  if (/^[^/]*\/\/[^/]*@/.test(url)) {
    throw new UsageError(`${from} holds a login; put the key into ${variableOf(name)}, and leave it out here`);
  }
  if (key?.startsWith("bursar_")) {
    throw new UsageError(
      `the key of ${name} is one of a gateway's own, for clients; set ${variableOf(name)} to the provider's`,
    );
  }
  const home = KNOWN.find((known) => known.name === name || hostOf(known.url) === hostOf(url))?.name;
  return { name, url, ...(key !== undefined && key !== "" && { key }), ...(home !== undefined && { speaks: [home] }) };
}

function keyFor(name: string, env: Environment): string | undefined {
  return env[variableOf(name)] || undefined;
}

function variableOf(name: string): string {
  return `BURSAR_UPSTREAM_${name.toUpperCase().replaceAll("-", "_")}_KEY`;
}

function hostOf(url: string): string | null {
  return URL.canParse(url) && /^https?:/i.test(url) ? new URL(url).host : null;
}

/** Anthropic's own SDK adds the version itself, so that its base address is written without. */
function versioned(url: string): string {
  return /\/v1\/*$/.test(url) ? url : `${url.replace(/\/+$/, "")}/v1`;
}
