import { checkKeys } from "../../core/fields.js";
import { type GovernedFetchOptions, governedFetch } from "../fetch/governed-fetch.js";
import { Meter } from "../meter/meter.js";
import { BudgetHandler } from "./budget-handler.js";

export interface BudgetOptions extends GovernedFetchOptions {
  /** Whether the models send through a governed wire: whether the pieces with one were taken, unless it is said. */
  readonly wire?: boolean;
}

/** The pieces that models and chains of LangChain are given. */
export interface LangChainBudget {
  /** For whatever takes callbacks: a model, a chain, an agent, or a single call. */
  readonly callbacks: [BudgetHandler];
  /** The wire, which meters every request. */
  readonly fetch: typeof fetch;
  /** Both, as `ChatOpenAI` and `OpenAIEmbeddings` take them. */
  readonly openai: { readonly callbacks: [BudgetHandler]; readonly configuration: { readonly fetch: typeof fetch } };
  /** Both, as `ChatAnthropic` takes them. */
  readonly anthropic: { readonly callbacks: [BudgetHandler]; readonly clientOptions: { readonly fetch: typeof fetch } };
}

const KEYS = ["wire", "budget", "fetch", "wait_ms", "output_tokens", "tokenizer", "prices", "assume", "clock"];

/**
 * A budget for LangChain. The callback refuses a model before it starts, and counts rounds and depth; the wire meters each request,
 * also those that are sent again, and holds answers to what is left. Together they meter a call once. The callback alone goes by
 * what LangChain reports, and cannot shorten an answer, so that all of it has to fit.
 *
 * @example
 * ```ts
 * const model = new ChatOpenAI({ model: "gpt-5", ...budget().openai });
 * await withBudget({ cost_usd: 0.5, iterations: 10 }, () => createAgent({ model, tools }).invoke({ messages }));
 * ```
 */
export function budget(options: BudgetOptions = {}): LangChainBudget {
  checkKeys(options, "options", KEYS);
  const { wire, ...governed } = options;
  const { fetch: _, wait_ms: __, budget: payer, ...meter } = governed;
  const send = governedFetch(governed);
  let isTaken = false;
  const take = () => {
    isTaken = true;
    return send;
  };
  const isCut = () => wire ?? isTaken;
  const handler = new BudgetHandler({ meter: new Meter(meter), isCut, ...(payer !== undefined && { budget: payer }) });
  const callbacks: [BudgetHandler] = [handler];
  return {
    callbacks,
    get fetch() {
      return take();
    },
    get openai() {
      return { callbacks, configuration: { fetch: take() } };
    },
    get anthropic() {
      return { callbacks, clientOptions: { fetch: take() } };
    },
  };
}
