/** Hosts at which every request costs something, but for those that only look. A dot in front means all below it as well. */
const HOSTS: readonly string[] = [
  ...[".openai.com", ".anthropic.com", ".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"],
  ...[".openai.azure.us", ".cognitiveservices.azure.us", ".openai.azure.cn", ".cognitiveservices.azure.cn"],
  ...[
    "generativelanguage.googleapis.com",
    "aiplatform.googleapis.com",
    "models.github.ai",
    "models.inference.ai.azure.com",
  ],
  ...[
    "api.mistral.ai",
    "api.groq.com",
    ".x.ai",
    "api.deepseek.com",
    "api.cohere.com",
    "api.cohere.ai",
    "api.perplexity.ai",
  ],
  ...[
    "api.together.xyz",
    "api.together.ai",
    "api.fireworks.ai",
    "openrouter.ai",
    "api.cerebras.ai",
    "api.sambanova.ai",
  ],
  ...["router.huggingface.co", "api-inference.huggingface.co", "api.replicate.com", "integrate.api.nvidia.com"],
  ...["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "api.moonshot.ai", "api.moonshot.cn", "api.z.ai"],
  ...[
    "open.bigmodel.cn",
    "api.minimax.io",
    "ai-gateway.vercel.sh",
    "gateway.ai.cloudflare.com",
    "api.studio.nebius.ai",
  ],
  ...["api.novita.ai", "api.hyperbolic.xyz", "api.ai21.com", "api.voyageai.com", "api.jina.ai", "ollama.com"],
];

/** Hosts with a region in the middle of their names. */
const REGIONAL =
  /(?:^|\.)bedrock-runtime(?:-fips)?\.[a-z0-9-]+\.amazonaws\.com$|^[a-z0-9-]+-aiplatform\.googleapis\.com$/;

/** Variables that SDKs take the address of their provider from. */
const ADDRESSES = ["OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT"];

/** Names further hosts, with commas between them. */
export const HOSTS_VARIABLE = "BURSAR_HOSTS";

/** Tells which hosts are providers': those that are known, and those that the surroundings name as such. */
export class Providers {
  private readonly named: ReadonlySet<string>;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    const addresses = ADDRESSES.flatMap((name) => {
      const value = env[name] ?? "";
      return URL.canParse(value) ? [new URL(value).host] : [];
    });
    const hosts = (env[HOSTS_VARIABLE] ?? "").split(",").map((host) => host.trim().toLowerCase());
    this.named = new Set([...addresses, ...hosts].filter((host) => host !== ""));
  }

  /** Those that the surroundings name, as `HOSTS_VARIABLE` has them. */
  get list(): string {
    return [...this.named].join(",");
  }

  /** A host may have a port; a dot at its end changes nothing about where it leads. */
  has(host: string): boolean {
    const bare = host.toLowerCase();
    const name = bare.replace(/:\d+$/, "").replace(/\.$/, "");
    if (this.named.has(bare) || REGIONAL.test(name)) return true;
    return HOSTS.some((known) => (known.startsWith(".") ? `.${name}`.endsWith(known) : name === known));
  }

  /** The named hosts on one machine, whatever their ports. */
  at(hostname: string): readonly string[] {
    return [...this.named].filter((host) => host.replace(/:\d+$/, "").replace(/^\[|\]$/g, "") === hostname);
  }
}
