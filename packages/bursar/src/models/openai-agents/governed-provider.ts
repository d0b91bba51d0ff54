import type { OpenAIProviderOptions } from "@openai/agents";
import { InputError, show } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";
import { FETCH_KEYS, type GovernedFetchOptions, governedFetch } from "../fetch/governed-fetch.js";
import { Meter } from "../meter/meter.js";
import type { AgentsModel, AgentsProvider } from "./agents-request.js";
import { governing } from "./governing.js";

/** What OpenAI's own provider takes, as far as a governed wire leaves it a choice. */
type ProviderOptions = Pick<OpenAIProviderOptions, "apiKey" | "baseURL" | "organization" | "project" | "useResponses">;

export interface GovernedProviderOptions extends GovernedFetchOptions, ProviderOptions {
  /** How often OpenAI's client sends a request again by itself; each time counts. Twice unless it is said. */
  readonly maxRetries?: number;
}

const CLIENT_KEYS = ["apiKey", "baseURL", "organization", "project", "maxRetries", "useResponses"];

/**
 * OpenAI's models for the Agents SDK, metered on the wire: every request counts, also those that the client sends again by itself.
 * It needs the packages `openai` and `@openai/agents`, which are loaded when the first model is asked for.
 *
 * @example
 * ```ts
 * const runner = new Runner({ modelProvider: governedProvider({ maxRetries: 1 }) });
 * await withBudget({ cost_usd: 0.5 }, () => runner.run(agent, "What is new?"));
 * ```
 */
export function governedProvider(options: GovernedProviderOptions = {}): AgentsProvider {
  checkKeys(options, "options", [...CLIENT_KEYS, ...FETCH_KEYS]);
  const { apiKey, baseURL, organization, project, maxRetries, useResponses, budget, ...wire } = options;
  if (useResponses !== undefined && typeof useResponses !== "boolean") {
    throw new InputError("options.useResponses", `is ${show(useResponses)}; allowed: true or false`);
  }
  const fetch = governedFetch(wire);
  const given = Object.entries({ apiKey, baseURL, organization, project, maxRetries });
  const client = { ...Object.fromEntries(given.filter(([, value]) => value !== undefined)), fetch };
  let opened: Promise<AgentsProvider> | null = null;
  const provider = {
    getModel: async (name?: string): Promise<AgentsModel> => {
      opened ??= openProvider(client, useResponses);
      return (await opened).getModel(name);
    },
  };
  // The wire meters. Who pays is said here, together with the rounds that only the model sees.
  return governing(provider, { meter: new Meter({}), wired: true, ...(budget !== undefined && { budget }) });
}

async function openProvider(client: { readonly fetch: typeof fetch }, useResponses?: boolean): Promise<AgentsProvider> {
  const [{ OpenAI }, { OpenAIProvider }] = await Promise.all([import("openai"), import("@openai/agents")]).catch(
    (cause: unknown) => {
      throw new Error("governedProvider() needs the packages openai and @openai/agents; install both", { cause });
    },
  );
  type Client = NonNullable<NonNullable<ConstructorParameters<typeof OpenAIProvider>[0]>["openAIClient"]>;
  // Two versions of the client may stand side by side; what the SDK calls is the same in both.
  const openAIClient = new OpenAI(client) as unknown as Client;
  // Nothing meters a web socket, whatever the SDK is set to.
  const sent = { openAIClient, useResponsesWebSocket: false };
  return new OpenAIProvider({ ...sent, ...(useResponses !== undefined && { useResponses }) });
}
