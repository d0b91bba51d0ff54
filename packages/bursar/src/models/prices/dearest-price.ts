import { UnboundedError } from "../wire/unbounded-error.js";
import { addedTo, type Extra, mostWithout } from "./extra.js";
import type { Price } from "./price.js";

/** The dearest of several prices, call by call. It is known by the name of the first. */
export function dearestPrice(first: Price, others: readonly Price[]): Price {
  if (others.length === 0) return first;
  const { model, source, context_window } = first;
  return {
    model,
    source,
    context_window,
    cost: (counts) => others.reduce((most, price) => larger(most, price.cost(counts)), first.cost(counts)),
    most: (bound) =>
      others.reduce(
        (most, price) =>
          larger(
            most,
            known(() => price.most(bound), 0n),
          ),
        first.most(bound),
      ),
    affordable: (nano, bound) => {
      const most = first.affordable(nano, bound);
      return others.reduce(
        (least, price) =>
          Math.min(
            least,
            known(() => price.affordable(nano, bound), least),
          ),
        most,
      );
    },
  };
}

/** A price with something on top of what each call is quoted at. What calls cost is as before. */
export function raisedQuote(price: Price, extra: Extra): Price {
  if (extra.nano === 0n) return price;
  const { model, source, context_window } = price;
  const raised = (nano: bigint) => nano + addedTo(nano, extra);
  return {
    model,
    source,
    context_window,
    cost: (counts) => price.cost(counts),
    most: (bound) => raised(price.most(bound)),
    affordable: (money, bound) => {
      const left = mostWithout(money, extra);
      return left < 0n ? 0 : price.affordable(left, bound);
    },
  };
}

function larger(one: bigint, other: bigint): bigint {
  return other > one ? other : one;
}

/** What another price has no figure for, such as audio, it does not make dearer. */
function known<Value>(ask: () => Value, otherwise: Value): Value {
  try {
    return ask();
  } catch (error) {
    if (error instanceof UnboundedError) return otherwise;
    throw error;
  }
}
