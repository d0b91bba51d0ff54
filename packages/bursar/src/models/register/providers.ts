import { InputError, show } from "../../core/errors.js";

/** Hosts at which every request costs something, but for those that only look. A dot in front means all below it as well. */
const HOSTS: readonly string[] = [
  ".openai.com",
  ".anthropic.com",
  ".openai.azure.com",
  ".services.ai.azure.com",
  ".cognitiveservices.azure.com",
  ".openai.azure.us",
  ".cognitiveservices.azure.us",
  ".openai.azure.cn",
  ".cognitiveservices.azure.cn",

  "generativelanguage.googleapis.com",
  "aiplatform.googleapis.com",
  "models.github.ai",
  "models.inference.ai.azure.com",

  "api.mistral.ai",
  "api.groq.com",
  ".x.ai",
  "api.deepseek.com",
  "api.cohere.com",
  "api.cohere.ai",
  "api.perplexity.ai",

  "api.together.xyz",
  "api.together.ai",
  "api.fireworks.ai",
  "openrouter.ai",
  "api.cerebras.ai",
  "api.sambanova.ai",
  "router.huggingface.co",
  "api-inference.huggingface.co",
  "api.replicate.com",
  "integrate.api.nvidia.com",
  "dashscope.aliyuncs.com",
  "dashscope-intl.aliyuncs.com",
  "api.moonshot.ai",
  "api.moonshot.cn",
  "api.z.ai",

  "open.bigmodel.cn",
  "api.minimax.io",
  "ai-gateway.vercel.sh",
  "gateway.ai.cloudflare.com",
  "api.studio.nebius.ai",
  "api.novita.ai",
  "api.hyperbolic.xyz",
  "api.ai21.com",
  "api.voyageai.com",
  "api.jina.ai",
  "ollama.com",
];

/** Hosts with a region in the middle of their names. */
const REGIONAL =
  /(?:^|\.)bedrock-runtime(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com$|^[a-z0-9-]+-aiplatform\.googleapis\.com$/;

/** Variables that SDKs take the address of their provider from. */
const ADDRESSES = ["OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT"];

/** Names further hosts, with commas between them. */
export const HOSTS_VARIABLE = "BURSAR_HOSTS";

/** A name or an address, with a port or without; a dot in front means all below it as well. */
const HOST = /^(?:\.?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/**
 * Tells which hosts are providers': those that are known, and those that the surroundings name as such. One that is named without a port
 * is a provider at every port.
 */
export class Providers {
  private readonly named: ReadonlySet<string>;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    const addresses = ADDRESSES.flatMap((name) => {
      const value = env[name] ?? "";
      return URL.canParse(value) ? [withPort(new URL(value))] : [];
    });
    const hosts = (env[HOSTS_VARIABLE] ?? "").split(",").map((host) => host.trim().toLowerCase());
    const given = hosts.filter((host) => host !== "");
    const wrong = given.find((host) => !HOST.test(host));
    if (wrong !== undefined) {
      throw new InputError(
        HOSTS_VARIABLE,
        `has ${show(wrong)}; allowed: hosts, such as llm.internal:8080,.example.com`,
      );
    }
    this.named = new Set([...addresses, ...given]);
  }

  /** Those that the surroundings name, as `HOSTS_VARIABLE` has them. */
  get list(): string {
    return [...this.named].join(",");
  }

  /** A host may have a port; a dot at its end changes nothing about where it leads. */
  has(host: string): boolean {
    const { named } = this;
    const bare = host.toLowerCase();
    const name = bare.replace(/:\d+$/, "").replace(/\.$/, "");
    if (named.has(bare) || named.has(name) || REGIONAL.test(name)) return true;
    // Without a port it is that of http or https.
    if (!/:\d+$/.test(bare) && (named.has(`${name}:80`) || named.has(`${name}:443`))) return true;
    const isAt = (known: string) => (known.startsWith(".") ? `.${name}`.endsWith(known) : name === known);
    return HOSTS.some(isAt) || [...named].some((known) => known.startsWith(".") && isAt(known));
  }

  /** The named hosts on one machine, whatever their ports. */
  at(hostname: string): readonly string[] {
    return [...this.named].filter((host) => host.replace(/:\d+$/, "").replace(/^\[|\]$/g, "") === hostname);
  }
}

/** The host of an address with its port, so that the machine is a provider there alone. */
function withPort({ host, port, protocol }: URL): string {
  return port === "" ? `${host}:${protocol === "https:" ? 443 : 80}` : host;
}
