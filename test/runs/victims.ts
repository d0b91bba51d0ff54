import { randomOf } from "../../packages/bursar/test/stores/seeds.js";
import type { Door, Visit } from "./doors.js";
import { type Kind, TURNS } from "./starting.js";

/** The doors that a run comes to in the middle of a turn. */
const DOORS: readonly Door[] = ["unsent", "in flight", "unwritten", "tool"];

/** Where a worker was killed, as one of its runs saw it. */
export interface Kill {
  readonly door: Door | "paused";
  readonly key: string;
}

/**
 * One run whose workers are killed: once at each door, in turns that the seed chooses, once while it stands still at its limit,
 * and once when it has just been claimed again.
 */
export class Victim {
  readonly id: string;
  readonly kind: Kind;
  /** So many steps may be done before somebody has to say yes. */
  readonly steps: number;
  readonly kills: Kill[] = [];
  status = "running";
  private readonly ahead: { readonly door: Door; readonly turn: number }[];
  private approved = false;
  private resuming = false;
  private standsAt: Visit | null = null;

  constructor(kind: Kind, seed: number) {
    const random = randomOf(seed);
    this.kind = kind;
    this.id = `${kind}-run`;
    this.steps = 2 + Math.floor(random() * (2 * TURNS - 3));
    const turns = shuffled([...Array(TURNS).keys()], random).slice(0, DOORS.length);
    const doors = shuffled(DOORS, random);
    this.ahead = turns.toSorted((a, b) => a - b).map((turn, at) => ({ turn, door: doors[at] ?? "tool" }));
  }

  /** Whether its worker is to be killed here. */
  shuts(visit: Visit): boolean {
    const { door, turn } = visit;
    const [next] = this.ahead;
    const here = door === "resuming" ? this.resuming : next?.door === door && next.turn === turn;
    if (here) this.standsAt = visit;
    return here;
  }

  /** Its worker has said how it stands. */
  tell(status: string): void {
    this.status = status;
  }

  /** Whether it goes no further by itself. */
  get stands(): boolean {
    return this.standsAt !== null || this.status === "paused" || this.hasEnded;
  }

  get hasEnded(): boolean {
    return ["completed", "failed", "cancelled"].includes(this.status);
  }

  /** Whether whoever comes next has to say yes first; asked once for each pause. */
  takeApproval(): boolean {
    if (this.status !== "paused" || this.approved) return false;
    this.approved = true;
    this.resuming = true;
    this.status = "running";
    return true;
  }

  /** Its worker is no more. */
  killed(): void {
    if (this.standsAt !== null) {
      const { door, key } = this.standsAt;
      this.kills.push({ door, key });
      if (door === "resuming") this.resuming = false;
      else this.ahead.shift();
      this.standsAt = null;
    } else if (this.status === "paused") this.kills.push({ door: "paused", key: "" });
  }
}

function shuffled<Value>(values: readonly Value[], random: () => number): readonly Value[] {
  return values
    .map((value) => ({ value, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);
}
