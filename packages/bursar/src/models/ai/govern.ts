import { InputError, show } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";
import { Meter } from "../meter/meter.js";
import { METER_KEYS, type MeterOptions } from "../meter/meter-options.js";
import type { PaidBy } from "../meter/paid-by.js";
import type { Governing } from "./governed-calls.js";
import { GovernedEmbeddings, GovernedLanguage, oneSpeaker } from "./governed-model.js";
import type { SdkEmbeddingModel, SdkLanguageModel, SdkModel } from "./sdk-model.js";

export interface GovernOptions extends MeterOptions, PaidBy {
  /** How long a call waits for what others hold. */
  readonly wait_ms?: number;
}

const OUTPUT_TOKENS = 4096;

/**
 * A model of the AI SDK that pays for its calls out of a budget: language models and embedding models of any provider, in versions
 * 2 to 4 of the SDK's specification, also as Mastra uses them. Every attempt is a reservation of its own, answers are held to
 * what is left, and a call that does not fit is not made: it throws a `BudgetExceededError`, which the SDK does not try again.
 *
 * @example
 * ```ts
 * const model = govern(openai("gpt-5"));
 * const { text } = await withBudget({ cost_usd: 0.5 }, () => generateText({ model, prompt: "Hello" }));
 * ```
 */
export function govern<Model extends SdkModel>(model: Model, options: GovernOptions = {}): Model {
  const how = readGoverning(options);
  return over(model, governed(model, how));
}

/** How the calls of models are governed, as the options say. */
export function readGoverning(options: GovernOptions): Governing {
  checkKeys(options, "options", ["budget", "wait_ms", ...METER_KEYS]);
  const { budget, wait_ms, ...meter } = options;
  if (budget !== undefined && typeof budget?.purse?.budget !== "string") {
    throw new InputError("budget", `is ${show(budget)}; allowed: what openBudget() or withBudget() gives`);
  }
  return {
    meter: new Meter(meter),
    paid: budget === undefined ? {} : { budget },
    output_tokens: options.output_tokens ?? OUTPUT_TOKENS,
    ...(wait_ms !== undefined && { wait_ms }),
  };
}

function governed(model: SdkModel, how: Governing): GovernedLanguage | GovernedEmbeddings {
  if (typeof model === "object" && model !== null && typeof model.modelId === "string") {
    const { doGenerate, doStream } = model as Partial<SdkLanguageModel>;
    if (typeof doGenerate === "function" && typeof doStream === "function") {
      return new GovernedLanguage(oneSpeaker(model as SdkLanguageModel, how), how);
    }
    if (typeof (model as Partial<SdkEmbeddingModel>).doEmbed === "function") {
      return new GovernedEmbeddings(model as SdkEmbeddingModel, how);
    }
  }
  const allowed = 'a language model or an embedding model of the AI SDK, such as openai("gpt-5")';
  throw new InputError(
    "model",
    `is ${typeof model === "object" ? "something else" : show(model)}; allowed: ${allowed}`,
  );
}

/** A model with some of its methods replaced. The others are called on the model itself, whose private fields no proxy has. */
export function over<Model extends SdkModel>(model: Model, ours: GovernedLanguage | GovernedEmbeddings): Model {
  return new Proxy(model, {
    get: (_, name) => {
      const own: unknown = typeof name === "string" && name.startsWith("do") ? Reflect.get(ours, name) : undefined;
      if (typeof own === "function") return own.bind(ours);
      const value: unknown = Reflect.get(model, name, model);
      return typeof value === "function" && name !== "constructor" ? value.bind(model) : value;
    },
  });
}
