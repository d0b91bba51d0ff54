import { type Bursar, openBursar } from "bursar";
import type { Environment } from "../environment.js";
import { checkWebhook, type Place } from "../store/opened-store.js";

/** Opens what decides over runs and ends them, but drives none: that needs no programs, tools or models. */
export function openDeciding({ store, config }: Place, { env }: { readonly env: Environment }): Bursar {
  checkWebhook(config, env);
  return openBursar({ store });
}
