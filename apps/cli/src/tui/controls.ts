import type { Acts, Outcome } from "./acts.js";
import type { Press } from "./key.js";
import type { Lookout } from "./lookout.js";
import { caughtUp, press } from "./press.js";
import { NOTHING, type Sight } from "./sight.js";
import { BEGIN, type Note, type State, type Wish } from "./state.js";

/** All that is on the screen, apart from its size. */
export interface View {
  readonly state: State;
  readonly sight: Sight;
  readonly driving: number;
}

type Doing = Pick<Acts, "decide" | "resume" | "cancel" | "driven">;

/** What the screen does when it is left, or has to be drawn anew. */
interface Ways {
  readonly leave: (code: "quit" | "interrupt") => void;
  readonly repaint: () => void;
}

/** Brings together what is seen, what is pressed and what is done. Whoever draws looks at `view`, which is new when it changes. */
export class Controls {
  view: View = { state: BEGIN, sight: NOTHING, driving: 0 };
  private readonly listeners = new Set<() => void>();
  private readonly ways: Ways;
  private doing: Doing | null = null;
  private lookout: Pick<Lookout, "watch" | "look"> | null = null;
  private isDeciding = false;

  constructor(ways: Ways) {
    this.ways = ways;
  }

  /** Both tell it things in turn, and so come after it. */
  connect(doing: Doing, lookout: Pick<Lookout, "watch" | "look">): void {
    this.doing = doing;
    this.lookout = lookout;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly current = (): View => this.view;

  readonly press = (key: Press): void => {
    // An answer that is on its way to the store is not given a second time.
    if (this.isDeciding && key.name !== "interrupt") return;
    const { state, wish } = press(this.view.state, key, this.view.sight);
    this.show({ state });
    this.lookout?.watch(state.page?.run ?? null);
    if (wish !== null) void this.carryOut(wish);
  };

  readonly see = (sight: Sight): void => {
    const { state } = this.view;
    this.show({ sight, state: this.isDeciding ? state : caughtUp(state, sight) });
  };

  readonly tell = (note: Note | null): void => {
    const { state } = this.view;
    this.show(note === null ? {} : { state: { ...state, note } });
    void this.lookout?.look();
  };

  private show(change: Partial<View>): void {
    this.view = { ...this.view, ...change, driving: this.doing?.driven.length ?? 0 };
    for (const listener of this.listeners) listener();
  }

  private async carryOut(wish: Wish): Promise<void> {
    if (wish.kind === "interrupt") return this.ways.leave("interrupt");
    if (wish.kind === "repaint") return this.ways.repaint();
    if (wish.kind === "quit") return this.quit(wish.anyway);
    if (this.doing === null) return;
    this.isDeciding = true;
    try {
      const { doing } = this;
      if (wish.kind === "decide") this.take(await doing.decide(wish), wish);
      else this.take(await doing[wish.kind](wish.run), wish);
    } finally {
      this.isDeciding = false;
    }
    void this.lookout?.look();
  }

  private take(outcome: Outcome, wish: Wish): void {
    const { state } = this.view;
    if (outcome.kind === "done" || outcome.kind === "over") {
      this.show({ state: { ...state, mode: { kind: "browse" }, note: outcome.note } });
    } else if (outcome.kind === "refused") this.show({ state: { ...state, note: outcome.note } });
    else if (wish.kind === "decide") {
      const mode = { kind: "question", text: outcome.question, wish: { ...wish, anyway: true } } as const;
      this.show({ state: { ...state, mode, note: null } });
    }
  }

  private quit(anyway: boolean): void {
    const driving = this.doing?.driven.length ?? 0;
    if (driving === 0 || anyway) {
      this.ways.leave("quit");
      return;
    }
    const runs = driving === 1 ? "a run is" : `${driving} runs are`;
    const text = `${runs} driven from here and would be left in the middle; quit?`;
    const mode = { kind: "question", text, wish: { kind: "quit", anyway: true } } as const;
    this.show({ state: { ...this.view.state, mode } });
  }
}
