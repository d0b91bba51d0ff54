import type { SdkModel } from "./sdk-model.js";

/** Under which names providers keep where they send their requests. */
const NAMES = ["url", "baseURL", "baseUrl"] as const;

/**
 * Where a model's requests go, which decides what they cost; null where it does not show. The SDK has no public word for it, but
 * all of its own providers keep it in the same place, so that it is looked for there and not relied on.
 */
export function addressOf(model: SdkModel): string | null {
  const { config } = model as { readonly config?: Readonly<Record<string, unknown>> };
  if (typeof config !== "object" || config === null) return null;
  for (const name of NAMES) {
    try {
      const value = config[name];
      const address: unknown =
        typeof value === "function" ? value.call(config, { path: "/", modelId: model.modelId }) : value;
      if (typeof address === "string" && URL.canParse(address)) return address;
    } catch {
      // A provider of somebody else's, who means something else by the name.
    }
  }
  return null;
}
