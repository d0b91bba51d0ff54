import type { Price } from "./price.js";

/** Factors are kept in millionths, so that every charge is exact before it is rounded up once more. */
const PARTS = 1_000_000;
const WHOLE = BigInt(PARTS);

/** A price times a factor: that of a batch, of a region, or of a dearer tier. Nothing is charged too little by it. */
export function scaledPrice(price: Price, factor: number): Price {
  const parts = BigInt(Math.ceil(Number((factor * PARTS).toPrecision(15))));
  const part = (nano: bigint) => (nano * parts + WHOLE - 1n) / WHOLE;
  const { model, source, context_window } = price;
  return {
    model,
    source,
    context_window,
    cost: (counts) => part(price.cost(counts)),
    most: (bound) => part(price.most(bound)),
    affordable: (nano, bound) => price.affordable((nano * WHOLE) / parts, bound),
  };
}
