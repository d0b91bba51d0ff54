import type { Amounts } from "../core/amount.js";
import { BursarError } from "../core/errors.js";
import type { AnswerCut, Calling, CallSite, ModelAnswer, SitedAnswer, SitedCall } from "../ports/model.js";
import type { Store } from "../ports/store.js";
import type { ChatRequest } from "./chat-request.js";
import { learnedOf, outputOf, type Terms } from "./meter/quote.js";
import type { Price } from "./prices/price.js";
import type { Site } from "./reservations/site.js";
import { siteKey } from "./reservations/site-key.js";
import type { Sites } from "./reservations/sites.js";
import type { Siting } from "./reservations/siting.js";
import { OPENAI_CHAT } from "./wire/openai-chat.js";
import type { WireRequest } from "./wire/protocol.js";
import type { TokenCounts } from "./wire/token-counts.js";

/** An answer, with what it has used in tokens; null where the provider does not say. */
export interface CountedAnswer {
  readonly answer: ModelAnswer;
  readonly counts: TokenCounts | null;
}

/** A request to a chat model, and whatever sends it. */
export interface SitedChatOptions {
  readonly chat: ChatRequest;
  readonly siting: Siting;
  readonly price: Price;
  readonly send: (body: string, options: Calling) => Promise<CountedAnswer>;
}

/** A request to a chat model with what is known of others like it; null when nothing can be learned from it. */
export function sitedChat(sites: Sites, options: SitedChatOptions, about: CallSite): SitedCall | null {
  const { chat, siting, price } = options;
  const wire = wireOf(chat);
  if (wire === null) return null;
  const key = siteKey(siting.site ?? null, about.within, wire);
  const site = sites.find(key, chat.model, about.store);
  const bound = { input: chat.input_tokens, wanted: chat.output_tokens, egress_bytes: 0 };
  return new SitedChat({ wire, price, ...bound, site, full: siting.full === true }, site, about.store, options);
}

/** The request as those see it who meter it on its way; null when they would not let it pass. */
function wireOf({ body, sent, caches }: ChatRequest): WireRequest | null {
  try {
    // Taken for a server that only speaks like OpenAI's, it gets nothing added to it.
    const wire = OPENAI_CHAT.read(sent, { bytes: Buffer.byteLength(body), compatible: true });
    // It is quoted by what the chat model knows of caches, and what is learned has to be measured alike.
    return { ...wire, caches };
  } catch (error) {
    if (error instanceof BursarError) return null;
    throw error;
  }
}

class SitedChat implements SitedCall {
  readonly learned: Amounts | null;
  private readonly terms: Terms;
  private readonly site: Site;
  private readonly store: Store;
  private readonly options: SitedChatOptions;

  constructor(terms: Terms, site: Site, store: Store, options: SitedChatOptions) {
    this.terms = terms;
    this.site = site;
    this.store = store;
    this.options = options;
    this.learned = learnedOf(terms);
  }

  async call(granted: Amounts, { key, ...calling }: Calling): Promise<SitedAnswer> {
    const { chat, send } = this.options;
    const { wanted, wire } = this.terms;
    const isWhole = (granted.llm_output_tokens ?? wanted) >= wanted;
    const most = isWhole ? wanted : outputOf(this.terms, granted);
    const body = isWhole ? chat.body : JSON.stringify(wire.held(most));
    // Held to another length it is another request, whatever became of the one before.
    const { answer, counts } = await send(body, { ...calling, key: isWhole ? key : `${key}/${most}` });
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
