import { UnboundedError } from "./unbounded-error.js";

/**
 * Headers by which a server between here and the provider is told where a request goes, or with which settings, and those by which
 * Vertex AI and Bedrock are told of a service tier.
 */
const ROUTING_HEADERS =
  /^(?:x-portkey-|helicone-(?:fallback|target|model|omit|retry|rate)|x-litellm-|cf-aig-|x-model|x-provider|x-target|x-fallback|x-deployment|azureml-model-deployment$|x-bt-endpoint|x-route|x-upstream|x-openrouter-|x-vercel-ai-gateway-|x-service-tier|x-vertex-ai-llm-|x-amzn-bedrock-(?:service-?tier|performanceconfig|guardrail)|x-(?!device-)(?:[a-z0-9]+-)+model(?:-(?:id|name|override|fallbacks?))?$)/;

/** Those of them that only say who asks, and how long to wait. */
const HARMLESS: ReadonlySet<string> = new Set([
  "x-portkey-api-key",
  "x-portkey-trace-id",
  "x-portkey-span-id",
  "x-portkey-parent-span-id",
  "x-portkey-span-name",
  "x-portkey-metadata",
  "x-portkey-debug",
  "x-portkey-request-timeout",
  "x-litellm-api-key",
  "x-litellm-trace-id",
  "x-litellm-session-id",
  "x-litellm-end-user-id",
  "x-litellm-timeout",
  "cf-aig-authorization",
  "cf-aig-metadata",
  "cf-aig-skip-cache",
  "cf-aig-cache-ttl",
  "cf-aig-cache-key",
  "cf-aig-collect-log",
  "cf-aig-event-id",
  "cf-aig-request-timeout",
  "helicone-rate-limit-policy",
]);

/** Parameters of an address that no known server chooses a model by. */
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set([
  "api-version",
  "beta",
  "key",
  "api-key",
  "api_key",
  "subscription-key",
  "code",
  "alt",
  "timeout",
  "sig",
]);

const WHY = "may choose another model, or settings that are kept elsewhere";

/** What to do about something that is not sent to a host unless its operator says so. */
export function howToAllow(name: string): string {
  const option = `allow: { "<host>": [${JSON.stringify(name)}] }`;
  const elsewhere = `--allow '<host>=${name}' on the command line, BURSAR_ALLOW for bursar/register`;
  return `leave it out, or let the operator allow it for the host that it goes to: ${option} (${elsewhere})`;
}

/** Refuses headers that may send a request somewhere else than its body says. Their names are in small letters. */
export function checkHeaders(headers: Iterable<string>, allow: ReadonlySet<string>): void {
  for (const name of headers) {
    if (!ROUTING_HEADERS.test(name) || HARMLESS.has(name) || allow.has(name)) continue;
    throw new UnboundedError(`the header ${name}`, `${WHY}; ${howToAllow(name)}`);
  }
}

/** Refuses what may send a request somewhere else than its body says. Names of headers are in small letters. */
export function checkRouting(url: URL, headers: Iterable<string>, allow: ReadonlySet<string>): void {
  checkHeaders(headers, allow);
  if (url.search === "") return;
  for (const name of url.searchParams.keys()) {
    if (KNOWN_PARAMETERS.has(name) || allow.has(`?${name}`)) continue;
    throw new UnboundedError(`the parameter ?${name} of the address`, `${WHY}; ${howToAllow(`?${name}`)}`);
  }
}
