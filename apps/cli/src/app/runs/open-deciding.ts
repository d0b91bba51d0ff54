import { type Bursar, openBursar } from "bursar";
import type { Terminal } from "../terminal.js";
import { checkWebhook, type Place } from "./place.js";

/** Opens what decides over runs and ends them, but goes on with none: that takes nothing of what they need. */
export function openDeciding({ store, config }: Place, terminal: Terminal): Bursar {
  checkWebhook(config, terminal);
  return openBursar({ store });
}
