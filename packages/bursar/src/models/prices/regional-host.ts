import { withoutFinalDot } from "../wire/provider-hosts.js";

/** A host of one region, whose prices are those of the provider's usual host with a surcharge. */
export interface RegionalHost {
  /** The address at the usual host. */
  readonly url: string;
  /** How much more a model costs there, in percent. */
  surcharge(model: string): number;
}

interface Regions {
  readonly host: string;
  readonly surcharge: (model: string) => number;
}

const PERCENT = 10;

/** OpenAI charges it for models that were released since March 2026 (GPT-5.4 was the first); those before are listed here. */
const BEFORE_SURCHARGE = [
  /^(?:ft:)?(?:gpt-3|gpt-4|chatgpt-4o|o[134](?:-|$)|text-|davinci|babbage|ada|curie|whisper|tts-|dall-e|omni-moderation)/,
  /^(?:codex-mini|computer-use|gpt-audio|gpt-realtime|gpt-oss|gpt-image-1)(?!\.5|-2)/,
  /^gpt-5(?:[.-][0-3](?!\d))?(?:$|-(?:20\d\d-|mini|nano|pro|chat|codex|image))/,
];

const REGIONS: readonly Regions[] = [
  {
    host: "api.openai.com",
    surcharge: (model) => (BEFORE_SURCHARGE.some((names) => names.test(model.toLowerCase())) ? 0 : PERCENT),
  },
  { host: "api.x.ai", surcharge: () => PERCENT },
];

/** The region's host that an address is at; null for all others. */
export function regionalHostOf(url: string | null): RegionalHost | null {
  if (url === null || !URL.canParse(url)) return null;
  const address = new URL(url);
  const host = withoutFinalDot(address.hostname);
  const regions = REGIONS.find(({ host: usual }) => host.endsWith(`.${usual}`));
  if (regions === undefined) return null;
  address.hostname = regions.host;
  return { url: address.href, surcharge: regions.surcharge };
}
