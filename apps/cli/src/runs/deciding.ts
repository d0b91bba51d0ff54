import { type Bursar, openBursar } from "bursar";
import type { Terminal } from "../terminal.js";
import { type Place, webhookOf } from "./place.js";

/** Opens what decides over runs and ends them, but goes on with none: that takes nothing of what they need. */
export function openDeciding({ store, config }: Place, terminal: Terminal): Bursar {
  const webhook = webhookOf(config, terminal);
  return openBursar({ store, ...(webhook !== undefined && { webhook }) });
}
