import type { Shelf } from "./books.js";
import { checkLater, type LinkDraft } from "./chain/link.js";
import { Draft } from "./draft.js";
import type { Action } from "./events.js";

/** A link that is due. Its place in its chain, and so its id, are fixed; its text and its hash are not made yet. */
export interface LateLink {
  readonly chain: string;
  readonly draft: LinkDraft;
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
  private readonly at: number;

  constructor(over: LateShelf, hash: (text: string) => string, instant: number) {
    super(over, hash, instant);
    this.over = over;
    this.at = instant;
  }

  override append(chain: string, { action_type, event, data }: Action, cause: string | null): string {
    let seq = this.over.lastSeq(chain) + 1;
    for (const link of this.late) if (link.chain === chain) seq++;
    const draft = { action_type, at: this.at, cause, data, event };
    checkLater(chain, draft, seq);
    this.late.push({ chain, draft });
    return `${chain}#${seq}`;
  }
}
