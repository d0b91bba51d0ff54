import type { Json, JsonObject } from "../core/chain/canonical.js";
import { decide, type Finding } from "../core/decision.js";
import { StaleError } from "../core/document.js";
import { BursarError } from "../core/errors.js";
import type { Operation } from "../core/operation.js";
import type { Computed, Output, OwnEffect, Played, Program, Stage } from "../ports/program.js";
import { Gate } from "../runtime/gate.js";
import { TimeLimit } from "../runtime/time-limit.js";
import { putApproval, readApproval, withdrawals } from "./approval.js";
import { type Checkpoint, checkpointId, emptied, putCheckpoint, readCheckpoint } from "./checkpoint.js";
import type { Claim } from "./claim.js";
import { Desk, quiet } from "./desk.js";
import { ClaimLostError, RunError, writeError } from "./error.js";
import { freeFor } from "./free.js";
import { Holding } from "./holding.js";
import { type AskEntry, readJournal, unanswered } from "./journal.js";
import { type Block, type Direction, Performer } from "./performer.js";
import { Player } from "./player.js";
import { type Failure, putRun, type RunRecord, readRun } from "./record.js";
import type { Surroundings } from "./surroundings.js";
import { aboutAction, suspension } from "./suspension.js";

type Ending =
  | { readonly kind: "returned"; readonly value: Json }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "paused" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "stopped" }
  | { readonly kind: "broken"; readonly error: unknown };

/** After a limit was hit, a program has so long, and so many further effects, to put its things in order. */
const GRACE_MS = 5000;
const GRACE_ASKS = 100;

/** Drives one run: from where it was to its next pause, or to its end. */
export class Conductor {
  private readonly around: Surroundings;
  private readonly program: Program;
  private readonly desk: Desk;
  private readonly gate: Gate;
  private readonly holding: Holding;
  /** Ends what the program does, and what is done for it. */
  private readonly stageEnd = new AbortController();
  private readonly effectsEnd = new AbortController();
  private readonly blocked = new Map<number, { readonly ask: AskEntry; readonly block: Block }>();
  private readonly ending: Promise<Ending>;
  private end: (ending: Ending) => void = () => {};
  private readonly run: RunRecord;
  private checkpoint: Checkpoint;
  private player: Player | null = null;
  private performer: Performer | null = null;
  private played: Played | null = null;
  private failure: Failure | null = null;
  private timedOut: Finding | null = null;
  private grace: Disposable | null = null;
  private asksLeft = GRACE_ASKS;
  /** How much the program computes at present. */
  private working = 0;
  private output: Output;

  constructor(around: Surroundings, program: Program, run: RunRecord, claim: Claim) {
    this.around = around;
    this.program = program;
    this.run = run;
    this.output = run.output;
    this.checkpoint = readCheckpoint(run.id, null);
    this.desk = new Desk(around.store, around.timer, claim, around.claim_ms);
    this.gate = new Gate({ store: this.desk, timer: around.timer });
    this.holding = new Holding(this.desk, around.timer, run);
    this.ending = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  /** Somebody wants the run to end. */
  cancel(): void {
    this.end({ kind: "cancelled" });
  }

  /** Lets go of the run as it is; another worker goes on with it. */
  abandon(): void {
    this.end({ kind: "broken", error: new ClaimLostError(this.run.id) });
  }

  /** Drives the run until it has ended, or stands still, or is somebody else's. */
  async drive(): Promise<RunRecord> {
    let limit: TimeLimit | null = null;
    const beat = this.heartbeat();
    try {
      limit = await this.begin();
      const ending = await this.ending;
      return await this.conclude(ending);
    } finally {
      beat[Symbol.dispose]();
      limit?.[Symbol.dispose]();
      this.grace?.[Symbol.dispose]();
      this.over("ended");
      this.player?.stop();
      this.gate[Symbol.dispose]();
      await this.desk[Symbol.asyncDispose]();
    }
  }

  private async begin(): Promise<TimeLimit> {
    const { store, timer } = this.around;
    const { id, budget } = this.run;
    this.checkpoint = readCheckpoint(id, await store.document("session", checkpointId(id)));
    await this.holding.giveBackLeft();
    const { part, position } = this.checkpoint;
    const journal = await readJournal(store, id, part, position.delivered);
    const path = () => store.path(budget);
    const clocks = { clock: store.clock, timer, dimensions: store.dimensions, path };
    const limit = new TimeLimit(clocks, await path());
    limit.signal.addEventListener("abort", () => void this.exhausted(), { once: true });
    const player = new Player({
      ...{ run: id, journal, from: position, epoch: this.desk.epoch, now: () => store.clock.now().instant },
      perform: (ask, own) => this.perform(ask, own),
      diverged: (error) => this.end({ kind: "broken", error }),
    });
    this.player = player;
    this.performer = new Performer({
      ...{ desk: this.desk, gate: this.gate, timer, handlers: this.around.handlers },
      ...{ direct: this.direction(), player: () => player },
    });
    if (this.run.cancel !== null) {
      await this.performer.settleLeft([...position.open, ...unanswered(journal)]);
      this.cancel();
    } else if (limit.signal.aborted) void this.exhausted();
    else this.play(player);
    return limit;
  }

  private play(player: Player): void {
    const replayed = player.replay();
    replayed.then(
      () => this.look(),
      (error) => this.end({ kind: "broken", error }),
    );
    this.played = this.program.play(this.stage(player), this.run.input);
    this.played.result.then(
      (value) => {
        player.ended();
        this.end({ kind: "returned", value });
      },
      (error) => {
        player.ended();
        this.end({ kind: "threw", error });
      },
    );
  }

  private stage(player: Player): Stage {
    return {
      run_id: this.run.id,
      began: this.run.created,
      signal: this.stageEnd.signal,
      saved: this.checkpoint.saved,
      ask: (name, args, own) => player.ask(name, args, own),
      askedBefore: (number) => player.askedBefore(number),
      save: (make) => player.between(async () => this.save(player, await make())),
      compute: (dimension, work) => this.compute(dimension, work),
      free: (dimension) => freeFor(this.around.store, this.run.budget, dimension),
      exhausted: () => this.exhausted(),
      output: (output) => {
        this.output = output;
      },
    };
  }

  /** Keeps the program as it is now, with which a new part of the journal begins. */
  private async save(player: Player, saved: JsonObject | null): Promise<void> {
    if (saved === null) return;
    const { position } = player;
    const { part, version } = this.checkpoint;
    const next: Checkpoint = { ...this.checkpoint, part: part + 1, position, saved };
    // At once, because the next answer belongs to the new part already.
    this.checkpoint = { ...next, version: version + 1 };
    await this.desk.apply([putCheckpoint(next)]);
  }

  private async compute<Value>(dimension: string, work: (most: number) => Promise<Computed<Value>>): Promise<Value> {
    this.working++;
    try {
      const most = await this.holding.take(dimension, () => this.exhausted());
      // The run pauses or ends, and its program with it.
      if (most === null) return await new Promise<never>(() => {});
      const { value, name, used } = await work(most);
      this.desk.later(this.holding.done(name, used));
      return value;
    } finally {
      this.working--;
      void this.look();
    }
  }

  private perform(ask: AskEntry, own: OwnEffect | undefined): void {
    if (this.failure !== null && --this.asksLeft < 0) this.end({ kind: "stopped" });
    else this.performer?.perform(ask, own);
  }

  private direction(): Direction {
    const part = () => this.checkpoint.part;
    return {
      run: this.run,
      get part() {
        return part();
      },
      signal: this.effectsEnd.signal,
      look: () => void this.look(),
      stop: (finding) => this.stop(finding),
      block: (ask, block) => this.block(ask, block),
      decided: (ask) => this.decided(ask),
      outOfTime: () => void this.exhausted(),
      hasChild: ({ number }) => this.around.children.has(this.run, number),
      startChild: ({ number }, request) => this.around.children.start(this.run, number, request),
      child: (ask) => this.child(ask),
      broken: (error) => this.end({ kind: "broken", error }),
    };
  }

  /** A yes is for one action, and for one time. */
  private async decided({ number, digest }: AskEntry): Promise<"approved" | "denied" | null> {
    const id = this.run.requests[aboutAction(digest)];
    const document = id === undefined ? null : await this.around.store.document("approval", id);
    if (document === null) return null;
    const request = readApproval(document);
    const key = `${this.run.id}/${number}`;
    if (request.status === "denied") return "denied";
    if (request.status !== "approved" || (request.consumed_by !== null && request.consumed_by !== key)) return null;
    if (request.consumed_by === null) await this.desk.apply([putApproval({ ...request, consumed_by: key })]);
    return "approved";
  }

  private child(ask: AskEntry): Promise<Json> {
    const paused = (is: boolean, child: string) => {
      if (is) this.block(ask, { kind: "child", run: child });
      else this.blocked.delete(ask.number);
    };
    return this.around.children.wait(this.run, ask.number, paused, this.effectsEnd.signal);
  }

  private block(ask: AskEntry, block: Block): void {
    this.blocked.set(ask.number, { ask, block });
    void this.look();
  }

  /** Pauses when all that is under way waits for somebody, and the program has nothing else to do. */
  private async look(): Promise<void> {
    await quiet();
    if (this.blocked.size === 0 || this.performer === null || this.failure !== null || this.working > 0) return;
    const waiting = [...this.blocked.values()].filter(({ block }) => block.kind === "child").length;
    if (this.performer.busy > waiting) return;
    this.end({ kind: "paused" });
  }

  private stop(finding: Finding): void {
    if (this.failure !== null) return;
    const { dimension } = finding;
    const message = `${dimension} is exhausted, and its policy is to stop`;
    this.failure = { code: "exhausted", message, data: { budget: finding.budget }, dimension };
    this.grace = this.around.timer.after(GRACE_MS, () => this.end({ kind: "stopped" }));
    for (const { ask, block } of this.blocked.values()) {
      if (block.kind !== "child") void this.performer?.giveUp(ask, new RunError("exhausted", message, { dimension }));
    }
  }

  /** A clock has run out, or the program itself used something up. Tells whether that ends or pauses the run. */
  private async exhausted(): Promise<boolean> {
    const { store } = this.around;
    const { id, budget } = this.run;
    try {
      // What the program has used is written first.
      await this.desk.apply([]);
      const { kind, findings } = decide(await store.path(budget), {}, store.clock.now(), store.dimensions);
      const [finding] = findings;
      if (finding === undefined || kind === "admitted" || kind === "busy") return false;
      const call = `${id}/exhausted ${this.player?.position.made ?? 0}@${this.desk.epoch}`;
      // Refused as it will be, it leaves word in the chain of what has run out.
      await this.desk.apply([{ op: "reserve", budget, call, kind: "tool", asked: {} }]);
      if (kind === "stopped") this.stop(finding);
      else this.timedOut = finding;
      this.end({ kind: kind === "stopped" ? "stopped" : "paused" });
    } catch (error) {
      this.end({ kind: "broken", error });
    }
    return true;
  }

  private heartbeat(): Disposable {
    const { timer, claim_ms, store } = this.around;
    let next: Disposable | null = null;
    const beat = async () => {
      try {
        await this.desk.apply([]);
        const document = await store.document("run", this.run.id);
        if (document !== null && readRun(document).cancel !== null) this.cancel();
      } catch (error) {
        if (this.desk.lost !== null) return this.end({ kind: "broken", error });
      }
      next = timer.after(claim_ms / 3, beat);
    };
    next = timer.after(claim_ms / 3, beat);
    return { [Symbol.dispose]: () => next?.[Symbol.dispose]() };
  }

  private async conclude(ending: Ending): Promise<RunRecord> {
    if (this.desk.lost !== null) throw this.desk.lost;
    if (ending.kind === "broken") return this.broke(ending.error);
    if (ending.kind === "paused") return this.pause();
    this.over("ended");
    await this.performer?.settled();
    this.player?.stop();
    await this.around.children.end(this.run);
    switch (ending.kind) {
      case "returned":
        return this.finish(this.failure === null ? "completed" : "failed", ending.value, this.failure);
      case "threw":
        return this.finish("failed", null, this.failure ?? { ...writeError(ending.error), dimension: null });
      case "stopped":
        return this.finish("failed", null, this.failure);
      case "cancelled":
        return this.finish("cancelled", null, null);
    }
  }

  /** What is not the program's fault leaves the run as it is, for another worker; what is its fault ends it. */
  private async broke(error: unknown): Promise<RunRecord> {
    if (!(error instanceof BursarError) || error.code !== "replay") throw error;
    this.over("ended");
    await this.performer?.settled();
    return this.finish("failed", null, { ...writeError(error), dimension: null });
  }

  private over(code: "ended" | "paused"): void {
    const reason = new RunError(code, code === "ended" ? "the run is over" : "the run stands still");
    this.effectsEnd.abort(reason);
    this.stageEnd.abort(reason);
  }

  private async finish(
    status: "completed" | "failed" | "cancelled",
    result: Json,
    failure: Failure | null,
  ): Promise<RunRecord> {
    const ended = this.around.store.clock.now().instant;
    const { output } = this;
    return this.leave(async (run) => {
      const done = { ...run, status, result, failure, output, ended, pause: null, requests: {} };
      const lives: Operation[] = [];
      if (run.wrap_up !== null) lives.push({ op: "end", budget: run.wrap_up });
      if (!run.shares) lives.push({ op: "end", budget: run.budget });
      const data: JsonObject = { run_id: run.id, status, ...(failure !== null && { failure }) };
      const record = { op: "record", budget: run.budget, action: { action_type: "RunEnded", data } } as const;
      const cleared = this.checkpoint.version === 0 ? [] : [emptied(this.checkpoint)];
      const withdrawn = await withdrawals(this.around.store, run.requests);
      return { run: done, operations: [record, ...withdrawn, ...cleared, ...lives] };
    });
  }

  private async pause(): Promise<RunRecord> {
    const { player } = this;
    if (player === null) throw new ClaimLostError(this.run.id);
    // What is still under way is given up: it is charged for what it used, and tried again later.
    this.effectsEnd.abort(new RunError("paused", "the run stands still"));
    await this.performer?.settled();
    await player.between(async () => this.save(player, (await this.played?.snapshot?.()) ?? null));
    player.stop();
    this.over("paused");
    const blocked = [...this.blocked.values()];
    return this.leave((run) =>
      suspension({
        ...{ store: this.around.store, run: { ...run, output: this.output }, blocked },
        ...{ timedOut: this.timedOut, expires_ms: this.around.approval_ms },
      }),
    );
  }

  /** Writes what becomes of the run, over whatever others have written of it meanwhile. */
  private async leave(make: (run: RunRecord) => Left | Promise<Left>): Promise<RunRecord> {
    for (;;) {
      const document = await this.around.store.document("run", this.run.id);
      if (document === null) throw new ClaimLostError(this.run.id);
      const { run, operations } = await make(readRun(document));
      try {
        await this.desk.leave([putRun(run), ...operations]);
        return { ...run, version: run.version + 1 };
      } catch (error) {
        if (!(error instanceof StaleError) || error.kind !== "run") throw error;
      }
    }
  }
}

interface Left {
  readonly run: RunRecord;
  readonly operations: readonly Operation[];
}
