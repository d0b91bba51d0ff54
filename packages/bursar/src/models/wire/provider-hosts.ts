/** The hosts of those whose protocols they are. All others only speak like them. */
const HOMES = { openai: "api.openai.com", anthropic: "api.anthropic.com" } as const;

/** A dot at the end of a host's name changes nothing about where it leads. */
export function withoutFinalDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

/** Whether a host is a provider's own, be it that of a region: `eu.api.openai.com`. */
export function isHomeOf(home: "openai" | "anthropic", hostname: string): boolean {
  const host = withoutFinalDot(hostname);
  const own = HOMES[home];
  return host === own || host.endsWith(`.${own}`);
}

/** Whether a host is that of OpenAI or Anthropic. */
export function isHomeHost(hostname: string): boolean {
  return isHomeOf("openai", hostname) || isHomeOf("anthropic", hostname);
}
