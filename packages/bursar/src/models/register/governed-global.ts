import { currentPurse } from "../../runtime/purse.js";
import { refusalResponse } from "../fetch/answers.js";
import { governedFetch } from "../fetch/governed-fetch.js";
import type { MeterOptions } from "../meter/meter-options.js";
import type { RefusalReport } from "../meter/refusal.js";
import type { Passage } from "./passage.js";
import type { Providers } from "./providers.js";
import { isGoverned } from "./route.js";
import type { Tally } from "./tally.js";
import type { UnderWay } from "./under-way.js";

/** Why nothing can be sent from a process that cannot find the budget of the one that started it. */
const UNSHARED: RefusalReport = {
  code: "no_budget",
  message: "this thread or process cannot reach the budget of the one that started it, so nothing is sent from here",
  hint: "set BURSAR_STORE to a store that all of them find, such as sqlite:budgets.db",
};

/** What a `fetch` of ours works with. */
export interface GovernedGlobal {
  readonly providers: Providers;
  readonly tally: Tally;
  readonly under_way: UnderWay;
  readonly meter: MeterOptions;
  readonly passage: Passage;
}

/** A `fetch` to put in place of the global one: requests to providers are governed, and all others pass as they are. */
export function governedGlobal(
  original: typeof fetch,
  { providers, tally, under_way, meter, passage }: GovernedGlobal,
): typeof fetch {
  const paid: Send = (input, init) => {
    const isRequest = input instanceof Request;
    const address = isRequest ? input.url : String(input);
    const send = () => original(input, init);
    const method = init?.method ?? (isRequest ? input.method : "GET");
    return URL.canParse(address) ? passage.during(method, address, send) : send();
  };
  const governed = governedFetch({ ...meter, fetch: paid as typeof fetch });
  const follow: Send = (input, init) =>
    under_way.follow(signalOf(input, init), (signal) =>
      tally.follow(async () =>
        currentPurse() === null ? refusalResponse(UNSHARED) : governed(input, { ...init, signal }),
      ),
    );
  const send: Send = (input, init) => {
    // What an adapter further out has metered comes by here on its way.
    if (currentPurse()?.metered === true) return paid(input, init);
    const ours = isGoverned(input, init, providers);
    if (typeof ours === "boolean") return (ours ? follow : original)(input, init);
    // What a request has taken over is not said a second time: who has sent it may have changed it by now.
    const { body: _, headers: __, method: ___, ...rest } = init ?? {};
    return ours.governed.then((known) => (known ? follow : original)(ours.request, rest));
  };
  return (input, init) => {
    try {
      return send(input as string | URL | Request, init);
    } catch (error) {
      // Who sends something waits for what comes of it, and expects nothing to fail before that.
      return Promise.reject(error);
    }
  };
}

type Send = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

function signalOf(input: string | URL | Request, init: RequestInit | undefined): AbortSignal | null {
  if (init?.signal !== undefined) return init.signal;
  return input instanceof Request ? input.signal : null;
}
