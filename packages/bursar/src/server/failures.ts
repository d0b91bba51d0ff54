import type { Store } from "../ports/store.js";
import { noted } from "../runtime/server-chain.js";
import { Pace } from "./pace.js";

/** So many failed logins are recorded at once, and so many in the long run: whoever guesses must not fill the chain. */
const RATE = { burst: 20, per_second: 1 / 60 };

/** Records that somebody has shown a token that is none. */
export class Failures {
  private readonly store: Store;
  private readonly pace: Pace;
  /** Those that were not recorded one by one since the last that was. */
  private passedOver = 0;

  constructor(store: Store) {
    this.store = store;
    this.pace = new Pace(RATE, store.clock);
  }

  async note(address: string): Promise<void> {
    if (this.pace.take("") > 0) {
      this.passedOver++;
      return;
    }
    const passed_over = this.passedOver;
    this.passedOver = 0;
    await this.store.apply([noted("LoginFailed", { address, passed_over })]);
  }
}
