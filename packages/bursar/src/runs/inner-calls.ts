import type { JournalOperation } from "../core/operation.js";
import type { Store } from "../ports/store.js";
import { callId } from "./call-id.js";
import type { Desk } from "./desk.js";

/** So many calls an effect may make inside of itself without a word in the journal. */
const UNWRITTEN = 4;
const WORD = "inner";

/** One try of an effect. */
interface Try {
  readonly run: string;
  readonly number: number;
  readonly epoch: number;
}

/**
 * Names what an effect does inside of itself: calls of their own, named after it and counted. Those that are refused are
 * counted too, so that whoever settles what a dead worker has left cannot go by which ones are missing. Before there are
 * more of them than the journal says, it says twice as many: that is written no later than the next call is.
 */
export class InnerCalls {
  private readonly desk: Desk;
  private readonly of: Try;
  private count = 0;
  private most = UNWRITTEN;

  constructor(desk: Desk, of: Try) {
    this.desk = desk;
    this.of = of;
  }

  next(): string {
    if (this.count === this.most) {
      this.most *= 2;
      this.desk.later([journalMost(this.of, this.most)]);
    }
    return innerCallId(this.of, this.count++);
  }
}

/** Everything that a try of an effect may have called inside of itself. */
export async function innerCallsOf(store: Store, of: Try): Promise<readonly string[]> {
  let most = UNWRITTEN;
  for await (const { key } of store.journal(of.run)) {
    const [word, number, epoch, written] = key.split(" ");
    if (word === WORD && Number(number) === of.number && Number(epoch) === of.epoch) most = Number(written);
  }
  return Array.from({ length: most }, (_, count) => innerCallId(of, count));
}

/** It stands in the first part of the journal, because an effect may outlive the part that it began in. */
function journalMost({ run, number, epoch }: Try, most: number): JournalOperation {
  return { op: "journal", run, key: `${WORD} ${number} ${epoch} ${most}`, entry: {} };
}

function innerCallId({ run, number, epoch }: Try, count: number): string {
  return `${callId(run, number, epoch)} ${WORD} ${count}`;
}
