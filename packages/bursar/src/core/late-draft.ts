import type { Shelf } from "./books.js";
import { checkFrame, checkLater, type LinkDraft } from "./chain/link.js";
import { Draft } from "./draft.js";
import type { Action, WrittenAction } from "./events.js";

/** A link that is due. Its place in its chain, and so its id, are fixed; its text and its hash are not made yet. */
export interface LateLink extends Omit<LinkDraft, "data"> {
  readonly chain: string;
  readonly action: Action | WrittenAction;
}

/** What a late draft is laid over. */
export interface LateShelf extends Shelf {
  /** The position of a chain's last link, made or due; -1 where there is none. */
  lastSeq(chain: string): number;
}

/**
 * Books whose links are made later, for who does not wait until they are durable: to write and hash them takes as long as to decide.
 * Whatever could not be made is refused at once, as ever.
 */
export class LateDraft extends Draft {
  readonly late: LateLink[] = [];
  private readonly over: LateShelf;

  constructor(over: LateShelf, hash: (text: string) => string, instant: number) {
    super(over, hash, instant);
    this.over = over;
  }

  override append(chain: string, action: Action | WrittenAction, cause: string | null): string {
    let seq = this.over.lastSeq(chain) + 1;
    for (const link of this.late) if (link.chain === chain) seq++;
    const { action_type, event } = action;
    const link: LateLink = { chain, action, action_type, at: this.instant, cause, event };
    if ("write" in action) checkFrame(chain, link, seq);
    else checkLater(chain, { ...link, data: action.data }, seq);
    this.late.push(link);
    return `${chain}#${seq}`;
  }
}
