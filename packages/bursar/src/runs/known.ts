import type { Json } from "../core/chain/canonical.js";
import type { Dimensions } from "../core/dimensions.js";
import type { BudgetAmounts } from "../core/input.js";
import type { Known, Opinion } from "../ports/foresight.js";
import type { Model } from "../ports/model.js";
import type { Tool } from "./tool.js";

/** What is known of what a program may ask for: what tools and the model quote, and what is thought of the programs below. */
export function knownOf({
  dimensions,
  tools,
  model,
  program,
}: {
  readonly dimensions: Dimensions;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly model: Model | null;
  readonly program: (name: string, input: Json) => Promise<Opinion | null>;
}): Known {
  return {
    dimensions,
    tool: (name, args) => quoteOf(tools.get(name), args),
    model: async (request) => {
      try {
        return model === null ? null : await model.quote(request);
      } catch {
        // It is not known yet what the request will be, or nobody knows the price.
        return null;
      }
    },
    program,
  };
}

function quoteOf(tool: Tool | undefined, args: Json): BudgetAmounts | null {
  const { quote } = tool ?? {};
  if (typeof quote !== "function") return quote ?? null;
  try {
    return quote(args);
  } catch {
    // Some of the arguments are not known yet.
    return null;
  }
}
