import { AsyncLocalStorage } from "node:async_hooks";
import { InputError } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";
import { FETCH_KEYS, type GovernedFetchOptions, governedFetch } from "../fetch/governed-fetch.js";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import { toldError } from "../meter/told-error.js";

/** All that `governedFetch` takes, but for what sends requests: the SDK does that. */
export type BudgetOptions = Omit<GovernedFetchOptions, "fetch">;

/** A request as the SDK hands it to its middleware. */
export type MiddlewareRequest = RequestInit & { headers: Headers } & { url: string };

/** A middleware of the SDK's. */
export type BudgetMiddleware = (
  request: MiddlewareRequest,
  next: (request: MiddlewareRequest) => Promise<Response>,
  context: { readonly options?: unknown },
) => Promise<Response>;

/**
 * A middleware for the Anthropic SDK that pays for its calls out of a budget. It sees every attempt, and sees it as Anthropic's own
 * server would, also where it goes to another one. A call that does not fit is not sent: it throws a `BudgetExceededError`, as it
 * is, which the SDK does not try again.
 *
 * @example
 * ```ts
 * const client = new Anthropic({ middleware: [budget()] });
 * await withBudget({ cost_usd: 0.5 }, () =>
 *   client.messages.create({ model: "claude-opus-5", max_tokens: 1000, messages: [{ role: "user", content: "Hello" }] }),
 * );
 * ```
 */
export function budget(options: BudgetOptions = {}): BudgetMiddleware {
  checkKeys(
    options,
    "options",
    FETCH_KEYS.filter((key) => key !== "fetch"),
  );
  // One meter serves all requests, and each is sent by the middleware that comes after this one in its own chain.
  const sending = new AsyncLocalStorage<typeof fetch>();
  const governed = governedFetch({ ...options, fetch: (input, init) => sender(sending)(input, init) });
  return async (request, next, context) => {
    // Without options it is no call, but one for a key to make calls with.
    if (context?.options === undefined) return next(request);
    const { url, ...init } = request;
    const send: typeof fetch = (to, held) =>
      next({ ...request, ...held, url: String(to), headers: new Headers(held?.headers) });
    const response = await sending
      .run(send, () => governed(url, init))
      .catch((error: unknown) => {
        throw toldError(error);
      });
    // What no provider would take gets the answer that providers give.
    if (response.status !== 402 || !response.headers.has("x-bursar-refused")) return response;
    throw BudgetExceededError.from(await response.json()) ?? new InputError("request", "was refused");
  };
}

function sender(sending: AsyncLocalStorage<typeof fetch>): typeof fetch {
  const send = sending.getStore();
  if (send === undefined) throw new InputError("request", "was not made by the middleware that governs it");
  return send;
}
