import type { Timer } from "../../ports/timer.js";
import { EmbeddingGroup, type Joined, type Joining } from "./embedding-group.js";
import type { EmbeddingReuse } from "./options.js";

/** A timer rings up to 1 ms later than it was asked to, what follows takes another at most, and nobody is to wait for longer than the window. */
const LATE_MS = 2;

interface Open {
  readonly group: EmbeddingGroup;
  readonly alarm: Disposable;
}

/** Puts embedding calls together that come within a small window and say the same but for their inputs. */
export class EmbeddingGroups {
  private readonly settings: Required<EmbeddingReuse>;
  private readonly timer: Timer;
  private readonly open = new Map<string, Open>();

  constructor(settings: Required<EmbeddingReuse>, timer: Timer) {
    this.settings = settings;
    this.timer = timer;
  }

  /** Waits for the others, for no longer than the window that the first of them has opened. */
  join(key: string, joining: Joining): Promise<Joined> {
    if (this.open.get(key)?.group.hasRoomFor(joining) === false) this.close(key);
    const { group } = this.open.get(key) ?? this.begin(key);
    // Too large even for a group of its own, it goes as it is.
    if (!group.hasRoomFor(joining)) return Promise.resolve({ kind: "solo" });
    const joined = group.join(joining);
    // Nobody else fits in, so there is nothing to wait for.
    if (joining.inputs.items.length >= this.settings.inputs) this.close(key);
    return joined;
  }

  private begin(key: string): Open {
    const alarm = this.timer.after(Math.max(0, this.settings.window_ms - LATE_MS), () => this.close(key));
    const open = { group: new EmbeddingGroup(this.settings), alarm };
    this.open.set(key, open);
    return open;
  }

  private close(key: string): void {
    const open = this.open.get(key);
    if (open === undefined) return;
    this.open.delete(key);
    open.alarm[Symbol.dispose]();
    void open.group.flush();
  }
}
