import { type Deferred, deferred } from "../../runtime/deferred.js";
import type { WholeAnswer } from "./whole-answer.js";

/** An answer that others may have too. */
export interface Given {
  readonly answer: WholeAnswer;
  /** What the one who asked for it was charged, in USD; null when it was nothing, so that nobody saves anything by it. */
  readonly cost_usd: number | null;
}

/** A call that is being made, and that others wait for who want the very same. */
export class Turn {
  private readonly outcome: Deferred<Given | null> = deferred();
  private readonly onOver: () => void;

  constructor(onOver: () => void) {
    this.onOver = onOver;
  }

  /** What came of it; null when nothing did that others could have, so that one of them has to ask himself. */
  get over(): Promise<Given | null> {
    return this.outcome.promise;
  }

  /** Only the first word counts. */
  end(given: Given | null): void {
    this.onOver();
    this.outcome.resolve(given);
  }
}

/** The calls that are being made, by what they ask. */
export class InFlight {
  private readonly turns = new Map<string, Turn>();

  find(key: string): Turn | null {
    return this.turns.get(key) ?? null;
  }

  begin(key: string): Turn {
    const turn: Turn = new Turn(() => {
      if (this.turns.get(key) === turn) this.turns.delete(key);
    });
    this.turns.set(key, turn);
    return turn;
  }
}

/** The wish to be the one whom others wait for. It is given up by who has to wait himself, and taken up again once he is let in. */
export class Claim {
  private readonly inFlight: InFlight;
  private readonly key: string;
  private turn: Turn | null = null;

  constructor(inFlight: InFlight, key: string) {
    this.inFlight = inFlight;
    this.key = key;
  }

  /** Nobody is to wait for somebody whose budget does not let him in now. */
  resign(): void {
    this.end(null);
  }

  /** Takes the turn, unless somebody else has it: then that is whom to wait for. */
  takeUp(): Turn | null {
    if (this.turn !== null) return null;
    const other = this.inFlight.find(this.key);
    if (other === null) this.turn = this.inFlight.begin(this.key);
    return other;
  }

  end(given: Given | null): void {
    this.turn?.end(given);
    this.turn = null;
  }
}
