import type { Amounts } from "../../core/amount.js";
import type { AnswerCut, Calling, ModelAnswer, SitedAnswer, SitedCall } from "../../ports/model.js";
import type { Store } from "../../ports/store.js";
import { learnedOf, outputOf, type Terms } from "../meter/quote.js";
import type { Site } from "../reservations/site.js";
import type { TokenCounts } from "../wire/token-counts.js";

/** An answer, with what it has used in tokens; null where the provider does not say. */
export interface CountedAnswer {
  readonly answer: ModelAnswer;
  readonly counts: TokenCounts | null;
}

/** Sends a request with each of its answers held to so many tokens. */
export type SendChat = (output_tokens: number, options: Calling) => Promise<CountedAnswer>;

/** A call to a chat model with what is known of others from the same site. */
export class SitedChat implements SitedCall {
  readonly learned: Amounts | null;
  private readonly terms: Terms;
  private readonly site: Site;
  private readonly store: Store;
  private readonly send: SendChat;

  constructor(terms: Terms, site: Site, store: Store, send: SendChat) {
    this.terms = terms;
    this.site = site;
    this.store = store;
    this.send = send;
    this.learned = learnedOf(terms);
  }

  async call(granted: Amounts, { key, ...calling }: Calling): Promise<SitedAnswer> {
    const { wanted } = this.terms;
    const isWhole = (granted.llm_output_tokens ?? wanted) >= wanted;
    const most = isWhole ? wanted : outputOf(this.terms, granted);
    // Held to another length it is another request, whatever became of the one before.
    const { answer, counts } = await this.send(most, { ...calling, key: isWhole ? key : `${key}/${most}` });
    return { ...answer, cut: counts === null ? null : this.remember(counts.output, most, isWhole) };
  }

  /** How long the answer was tells what calls like it need. */
  private remember(output: number, most: number, isWhole: boolean): AnswerCut | null {
    const isCut = output >= most;
    this.site.add(output, isCut, this.store);
    if (!isCut || isWhole) return null;
    return { site: this.site.id, output_tokens: most, full_output_tokens: this.terms.wanted };
  }
}
