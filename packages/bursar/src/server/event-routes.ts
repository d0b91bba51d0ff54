import type { EventStream } from "./event-stream.js";
import { seqIn } from "./last-event.js";
import { type Asked, type Reply, type Route, WRITTEN } from "./route.js";
import * as S from "./schemas.js";
import { runOf, type World } from "./world.js";

/** A view is made anew this often at most. */
const VIEW_MS = 500;
/** Whoever was not told of a change, because nobody knew of it, sees it after so long. */
const LOOK_MS = 5000;

const { SCHEMAS } = S;
const EVENTS = { status: 200, type: "text/event-stream" } as const;

/** What happens, as it happens. */
export function eventRoutes(world: World): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/v1/events",
      role: "viewer",
      summary: "Which runs and requests have changed",
      answer: { ...EVENTS, events: [SCHEMAS.ChangedEvent, SCHEMAS.EndEvent] },
      serve: (asked) => changes(world, asked),
    },
    {
      method: "GET",
      path: "/api/v1/runs/:id/events",
      role: "viewer",
      query: { from: S.FROM },
      summary: "A run's chain as it grows, and the run as it changes",
      answer: { ...EVENTS, events: [SCHEMAS.LinkEvent, SCHEMAS.RunEvent, SCHEMAS.EndEvent] },
      serve: (asked) => runEvents(world, asked),
    },
  ];
}

function begin(world: World, { visitor, response }: Asked): EventStream {
  if (visitor === null) throw new Error("nobody listens who is not known");
  return world.streams.begin(visitor, response);
}

async function changes(world: World, asked: Asked): Promise<Reply> {
  const stream = begin(world, asked);
  using _hearing = world.changes.listen((changed) => stream.send("changed", changed));
  // Who hears that it is open reads how everything stands, and relies on being told from then on.
  await Promise.race([world.changes.ready(), over(stream)]);
  stream.open();
  await over(stream);
  return WRITTEN;
}

function over(stream: EventStream): Promise<void> {
  return new Promise((resolve) => stream.onOver(resolve));
}

async function runEvents(world: World, asked: Asked): Promise<Reply> {
  const { id = "" } = asked.params;
  const { budget } = await runOf(world, id);
  const last = seqIn(asked.incoming.headers);
  const follower = new Follower(world, id, budget, last === null ? Number(asked.query.from ?? 0) : last + 1);
  const stream = begin(world, asked);
  stream.open();
  await follower.follow(stream);
  return WRITTEN;
}

/** Sends a run's chain as it grows. It reads as fast as the client does: what was not sent yet is kept by the store alone. */
class Follower {
  private readonly world: World;
  private readonly id: string;
  private readonly chain: string;
  private next: number;
  private wake: () => void = () => {};
  private due = true;

  constructor(world: World, id: string, chain: string, from: number) {
    this.world = world;
    this.id = id;
    this.chain = chain;
    this.next = from;
  }

  async follow(stream: EventStream): Promise<void> {
    const { changes } = this.world;
    using _hearing = changes.listen(({ runs }) => {
      if (runs.includes(this.id) || runs.includes(this.chain)) this.ring();
    });
    stream.onOver(() => this.ring());
    let shown = "";
    while (!stream.isOver) {
      this.due = false;
      await this.sendLinks(stream);
      const view = await this.world.views.get(this.id);
      await stream.ready();
      if (view !== shown) stream.sendText("run", view);
      shown = view;
      await this.pause(stream, VIEW_MS, false);
      await this.pause(stream, LOOK_MS, true);
    }
  }

  private async sendLinks(stream: EventStream): Promise<void> {
    const head = await this.world.store.head(this.chain);
    if (head === null || head.seq < this.next) return;
    for await (const line of this.world.store.chain(this.chain, this.next)) {
      await stream.ready();
      if (stream.isOver) return;
      stream.send("link", { seq: this.next, line }, this.next);
      this.next++;
    }
  }

  private ring(): void {
    this.due = true;
    this.wake();
  }

  /** Until so long has passed, the stream is over, or, for those who want to know, something has happened. */
  private async pause(stream: EventStream, ms: number, early: boolean): Promise<void> {
    if (stream.isOver || (early && this.due)) return;
    await new Promise<void>((resolve) => {
      const timer = this.world.settings.timer.after(ms, resolve);
      this.wake = () => {
        if (!early && !stream.isOver) return;
        timer[Symbol.dispose]();
        resolve();
      };
    });
    this.wake = () => {};
  }
}
