import { randomUUID } from "node:crypto";
import { checkKeys } from "../../core/fields.js";
import { currentPurse, hasRootPurse, withPurse } from "../../runtime/purse.js";
import { FETCH_KEYS, type GovernedFetchOptions, governedFetch } from "../fetch/governed-fetch.js";
import { Meter } from "../meter/meter.js";
import { meterOptions } from "../meter/meter-options.js";
import type { PaidBy } from "../meter/paid-by.js";
import { BudgetHandler } from "./budget-handler.js";

export interface BudgetOptions extends GovernedFetchOptions {
  /**
   * Whether the models send through a governed wire: yes if they were given the one from here, or if the program was started with
   * `bursar/register`. Whoever gives them another one has to say so.
   */
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
  checkKeys(options, "options", ["wire", ...FETCH_KEYS]);
  const { wire, budget: payer, ...governed } = options;
  const paidBy: PaidBy = payer === undefined ? {} : { budget: payer };
  const leaver = randomUUID();
  const send = ownWire(governedFetch(governed), paidBy, leaver);
  let isTaken = false;
  const take = () => {
    isTaken = true;
    return send;
  };
  const below = () => (isTaken && wire !== false ? { leaver } : (wire ?? hasRootPurse()) ? "any" : "none");
  const handler = new BudgetHandler({ meter: new Meter(meterOptions(options)), wire: below, ...paidBy });
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

/** The wire that takes what the handler beside it has left. */
function ownWire(send: typeof fetch, { budget: payer }: PaidBy, leaver: string): typeof fetch {
  return (input, init) => {
    const around = currentPurse();
    const purse = around?.metered === true ? around : (payer?.purse ?? around);
    return purse === null ? send(input, init) : withPurse({ ...purse, leaver }, () => send(input, init));
  };
}
