import type { Amounts } from "../core/amount.js";
import type { Path } from "../core/budget.js";
import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Finding } from "../core/decision.js";
import { LedgerError } from "../core/errors.js";
import type { OwnEffect, Played, Program, Stage } from "../ports/program.js";
import { onAbort } from "../runtime/abort-listeners.js";
import { Gate } from "../runtime/gate.js";
import { TimeLimit } from "../runtime/time-limit.js";
import { useApproval } from "./approval.js";
import { type Checkpoint, checkpointId, putCheckpoint, readCheckpoint } from "./checkpoint.js";
import type { Claim } from "./claim.js";
import { stopClock } from "./clocks.js";
import { Desk, quiet } from "./desk.js";
import type { Block, Direction } from "./direction.js";
import { type Ending, type Left, type LeftRun, lastWords, leaveRun } from "./ending.js";
import {
  ClaimLostError,
  GuestUnavailableError,
  isFault,
  isLacking,
  type ReplayError,
  RunError,
  writeError,
} from "./error.js";
import { exhaustionOf, failureOf } from "./exhaustion.js";
import { heartbeat, noLonger } from "./heartbeat.js";
import { Holding } from "./holding.js";
import { type AskEntry, type Journal, NO_JOURNAL, readJournal, readWholeJournal, unanswered } from "./journal.js";
import { Performer } from "./performer.js";
import { BEGINNING, Player } from "./player.js";
import { type Failure, type RunRecord, readRun } from "./record.js";
import type { Surroundings } from "./surroundings.js";
import { aboutAction, standsStill, suspension } from "./suspension.js";

/** After a limit was hit, a program has so long, and so many further effects, to put its things in order. */
const GRACE_MS = 5000;
const GRACE_ASKS = 100;
/** So long nothing must happen before a run pauses in which somebody waits for what others hold. */
const WAIT_MS = 2500;
/** A program that computes has so long to stop when it is told to. */
const STOP_MS = 1000;

/** What is known of a run since it was claimed. */
export interface ClaimedRun {
  readonly claim: Claim;
  /** Whether it was never claimed before. */
  readonly isNew: boolean;
  /** Its budget and those above it. */
  readonly path: Path;
}

/** Drives one run: from where it was to its next pause, or to its end. */
export class Conductor {
  private readonly claimed: ClaimedRun;
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
  private limit: TimeLimit | null = null;
  /** What the program computes at present, when it is asked to stop. */
  private computing: Promise<unknown> = Promise.resolve();
  /** What had been asked for and not answered when the run was taken up. */
  private unanswered: readonly AskEntry[] = [];
  /** Whether its snapshot could not be restored, and the journal is played from the beginning. */
  private isPlayedAgain = false;
  /** Counts what happens, so that it can be seen whether anything does. */
  private changes = 0;
  private grace: Disposable | null = null;
  private asksLeft = GRACE_ASKS;
  private leaving = false;
  /** How much the program computes at present. */
  private working = 0;
  private told: Pick<RunRecord, "output" | "execution">;

  constructor(around: Surroundings, program: Program, run: RunRecord, claimed: ClaimedRun) {
    const { claim } = claimed;
    this.claimed = claimed;
    this.around = around;
    this.program = program;
    this.run = run;
    this.told = { output: run.output, execution: run.execution };
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

  /**
   * Lets go of the run as it is; another worker goes on with it. What is being made has so long to come to its end and to be
   * settled, and nothing else is begun meanwhile.
   */
  async abandon(within_ms: number): Promise<void> {
    this.leaving = true;
    if (within_ms > 0 && this.performer !== null) {
      await noLonger(this.around.timer, within_ms, Promise.race([this.performer.underWay.made(), this.ending]));
    }
    this.end({ kind: "abandoned" });
  }

  /** Drives the run until it has ended, or stands still, or is somebody else's. */
  async drive(): Promise<LeftRun> {
    const { timer, claim_ms } = this.around;
    const beat = heartbeat(timer, claim_ms / 3, () => this.beat(), this.broken);
    try {
      await this.begin();
      const ending = await this.ending;
      return await this.conclude(ending);
    } finally {
      beat[Symbol.dispose]();
      this.limit?.[Symbol.dispose]();
      this.grace?.[Symbol.dispose]();
      this.over("ended");
      this.player?.stop();
      this.gate[Symbol.dispose]();
      this.holding[Symbol.dispose]();
      await this.desk[Symbol.asyncDispose]();
    }
  }

  private async begin(): Promise<void> {
    const { store, timer } = this.around;
    const { id, budget } = this.run;
    const { isNew, path } = this.claimed;
    if (!isNew) this.checkpoint = readCheckpoint(id, await store.document("session", checkpointId(id)));
    await this.holding.giveBackLeft();
    const clocks = { clock: store.clock, timer, dimensions: store.dimensions, path: () => store.path(budget) };
    const limit = new TimeLimit(clocks, path);
    this.limit = limit;
    onAbort(limit.signal, () => void this.exhausted());
    const { saved } = this.checkpoint;
    const player = this.newPlayer(saved, isNew ? NO_JOURNAL : await this.readJournal(saved));
    if (this.run.cancel !== null) this.cancel();
    else if (limit.signal.aborted) void this.exhausted();
    else this.play(player, saved);
  }

  /** What hands the program its answers: from where it was saved, or from the beginning of the run. */
  private newPlayer(saved: JsonObject | null, journal: Journal): Player {
    const { store, timer } = this.around;
    const { id } = this.run;
    const position = saved === null ? BEGINNING : this.checkpoint.position;
    const player = new Player({
      run: id,
      journal,
      from: position,
      epoch: this.desk.epoch,
      now: () => store.clock.now().instant,
      perform: (ask, own) => this.perform(ask, own),
      diverged: (error) => this.end({ kind: "diverged", error }),
    });
    this.player = player;
    this.performer = new Performer({
      desk: this.desk,
      gate: this.gate,
      timer,
      handlers: this.around.handlers,
      direct: this.direction(),
      player,
      describeError: this.around.describeError,
    });
    this.unanswered = [...player.position.open, ...unanswered(journal)];
    return player;
  }

  private readJournal(saved: JsonObject | null): Promise<Journal> {
    const { store } = this.around;
    const { part, position } = this.checkpoint;
    if (saved === null) return readWholeJournal(store, this.run.id, part);
    return readJournal(store, this.run.id, part, position.delivered);
  }

  private play(player: Player, saved: JsonObject | null): void {
    // A copy, because the run is written again as it is known here.
    const played = this.program.play(this.stage(player, saved), structuredClone(this.run.input));
    this.played = played;
    (played.ready ?? Promise.resolve()).then(() => player.replay()).then(() => this.look(), this.failed);
    played.result.then(
      (value) => {
        player.ended();
        this.end({ kind: "returned", value });
      },
      (error) => {
        // That it could not be restored is for whoever waits until it is ready.
        if (error instanceof GuestUnavailableError) {
          this.failed(error);
          return;
        }
        player.ended();
        this.end(isFault(error) ? { kind: "broken", error } : { kind: "threw", error });
      },
    );
  }

  /** A snapshot of another build of the interpreter cannot be restored; the journal has all that the program was told. */
  private async playAgain(): Promise<void> {
    this.player?.stop();
    this.play(this.newPlayer(null, await this.readJournal(null)), null);
  }

  private readonly failed = (error: unknown): void => {
    if (!(error instanceof GuestUnavailableError && error.isReplayable)) this.broken(error);
    else if (!this.isPlayedAgain) {
      this.isPlayedAgain = true;
      this.playAgain().catch(this.broken);
    }
  };

  private stage(player: Player, saved: JsonObject | null): Stage {
    return {
      run_id: this.run.id,
      began: this.run.created,
      signal: this.stageEnd.signal,
      saved,
      ask: (name, args, own) => player.ask(name, args, own),
      askedBefore: (number) => player.askedBefore(number),
      save: (make) => player.between(async () => this.save(player, await make())),
      compute: this.compute,
      prepare: this.prepare,
      exhausted: (asked) => this.exhausted(asked as Amounts),
      watched: this.around.printed !== null,
      output: (output, execution = null) => {
        this.told = { output, execution };
        this.around.printed?.(this.run.id, output);
      },
    };
  }

  /** Keeps the program as it is now, with which a new part of the journal begins. */
  private async save(player: Player, saved: JsonObject | null): Promise<void> {
    // Before the journal has been played to its end, what follows in it would be lost with the part that it stands in.
    if (saved === null || player.isReplaying) return;
    const { position } = player;
    const { part, version } = this.checkpoint;
    const next: Checkpoint = { ...this.checkpoint, part: part + 1, position, saved };
    // At once, because the next answer belongs to the new part already.
    this.checkpoint = { ...next, version: version + 1 };
    this.desk.needs = needsOf(saved);
    await this.desk.apply([putCheckpoint(next)]);
  }

  /** The clock stands still meanwhile. One that is shared counts for others, and goes on. */
  private readonly prepare: Stage["prepare"] = async (work) => {
    const { budget, shares } = this.run;
    if (shares) return work();
    await this.desk.apply([...stopClock(this.run)]);
    const value = await work();
    // Whoever has ended the run meanwhile has stopped its clock for good.
    if (!this.stageEnd.signal.aborted) await this.desk.apply([{ op: "resume", budget }]);
    return value;
  };

  private readonly compute: Stage["compute"] = async (dimension, used, work) => {
    this.working++;
    try {
      const isOver = async () => (await this.exhausted()) || this.failure !== null;
      const alone = () => this.performer?.underWay.isIdle ?? true;
      const taking = this.holding.take(dimension, used, { isOver, alone });
      this.computing = taking.catch(() => {});
      const most = await taking; // Null where the run pauses or ends, and its program with it.
      if (most === null || this.stageEnd.signal.aborted) return await new Promise<never>(() => {});
      const computed = work(most).then(({ value, name, used }) => {
        this.holding.done(name, used);
        return value;
      });
      this.computing = computed.catch(() => {});
      return await computed;
    } finally {
      this.working--;
      void this.look();
    }
  };

  private perform(ask: AskEntry, own: OwnEffect | undefined): void {
    // Whoever goes on with the run is asked for it again.
    if (this.leaving) return;
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
      unblock: (ask) => this.unblock(ask),
      decided: ({ number, digest }) =>
        useApproval(this.desk, this.run.requests[aboutAction(digest)], `${this.run.id}/${number}`),
      outOfTime: () => void this.exhausted(),
      hasChild: ({ number }) => this.around.children.has(this.run, number),
      startChild: ({ number }, request, signal) => this.around.children.start(this.run, number, request, signal),
      child: (ask) => this.child(ask),
      broken: this.broken,
    };
  }

  private readonly broken = (error: unknown): void => {
    // Whoever lets go of a run lets go of those below it too, which is no fault of this one.
    const isBelow = this.leaving && this.desk.lost === null && error instanceof ClaimLostError;
    if (isBelow) return;
    this.end(isLacking(error) ? { kind: "lacking", error } : { kind: "broken", error });
  };

  private child(ask: AskEntry): Promise<Json> {
    const paused = (is: boolean, child: string) => {
      if (is) this.block(ask, { kind: "child", run: child });
      else this.unblock(ask);
    };
    return this.around.children.wait(this.run, ask.number, paused, this.effectsEnd.signal);
  }

  private block(ask: AskEntry, block: Block): void {
    if (this.failure !== null && block.kind !== "child") this.giveUp(ask, this.failure);
    else this.blocked.set(ask.number, { ask, block });
    void this.look();
  }

  private unblock({ number }: AskEntry): void {
    this.blocked.delete(number);
  }

  /** Pauses when all that is under way waits for somebody, and the program has nothing else to do. */
  private async look(): Promise<void> {
    const now = ++this.changes;
    await quiet();
    if (!this.standsStill) return;
    // Whoever waits for a hold is tried again by and by, and may get it.
    if (this.performer?.underWay.isWaiting) {
      await noLonger(this.around.timer, WAIT_MS, this.ending);
      if (this.changes !== now || !this.standsStill) return;
    }
    this.end({ kind: "paused" });
  }

  private get standsStill(): boolean {
    if (this.blocked.size === 0 || this.performer === null || this.failure !== null || this.working > 0) return false;
    // It is looked for what becomes of these, which is not to do anything.
    const waiting = [...this.blocked.values()].filter(({ block }) => ["child", "batch"].includes(block.kind)).length;
    return this.performer.underWay.busy <= waiting;
  }

  private stop(finding: Finding): void {
    if (this.failure !== null) return;
    this.failure = failureOf(finding);
    this.grace = this.around.timer.after(GRACE_MS, () => this.end({ kind: "stopped" }));
    for (const { ask, block } of this.blocked.values()) if (block.kind !== "child") this.giveUp(ask, this.failure);
  }

  private giveUp(ask: AskEntry, { message, dimension }: Failure): void {
    void this.performer?.giveUp(ask, new RunError("exhausted", message, { dimension }));
  }

  /** A clock has run out, or the program itself used something up. Tells whether that ends or pauses the run. */
  private async exhausted(asked?: Amounts): Promise<boolean> {
    this.working++;
    try {
      const found = await exhaustionOf(this.desk, this.run, this.player?.position.made ?? 0, asked);
      if (found === null) return false;
      if (found.kind === "paused") {
        this.timedOut = found.finding;
        this.end({ kind: "paused" });
        return true;
      }
      this.stop(found.finding);
      // The final answer may use what was set aside for it.
      if (this.run.wrap_up !== null) return false;
      this.end({ kind: "stopped" });
    } catch (error) {
      // The budget stands still already, because the run above does: this one does too.
      this.end(error instanceof LedgerError ? { kind: "paused" } : { kind: "broken", error });
    } finally {
      this.working--;
      void this.look();
    }
    return true;
  }

  /** Keeps the claim, and hears of it when somebody wants the run to end. */
  private async beat(): Promise<void> {
    try {
      await this.desk.apply([]);
      const document = await this.around.store.document("run", this.run.id);
      if (document !== null && readRun(document).cancel !== null) this.cancel();
    } catch (error) {
      if (this.desk.lost !== null) throw error;
    }
  }

  private async conclude(ending: Ending): Promise<LeftRun> {
    if (this.desk.lost !== null) throw this.desk.lost;
    // What is not the program's fault leaves the run as it is, for another worker.
    if (ending.kind === "broken") throw ending.error;
    if (ending.kind === "paused") return this.pause();
    if (ending.kind === "diverged") return this.pauseFor(ending.error);
    const open = [...this.unanswered, ...(this.player?.position.open ?? [])];
    this.over("ended");
    await this.performer?.underWay.settled();
    this.player?.stop();
    // What the program has computed to the end is charged, if it stops soon.
    await noLonger(this.around.timer, STOP_MS, this.computing);
    if (ending.kind === "abandoned" || ending.kind === "lacking") {
      if (ending.kind === "lacking") await this.holding.giveBackLeft();
      // Nobody drives it from now on, and whoever looks can tell.
      await this.leave((run) => ({ run: { ...run, ...this.told, status: "queued" }, operations: stopClock(run) }));
      throw ending.kind === "lacking" ? ending.error : new ClaimLostError(this.run.id, "closed");
    }
    // It may have been about to compute, or not have stopped: what is held for that would keep its budget from ending.
    await this.holding.giveBackLeft();
    await this.performer?.settleLeft(this.unanswered);
    await this.around.children.end(this.run, open);
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

  private over(code: "ended" | "paused"): void {
    const reason = new RunError(code, code === "ended" ? "the run is over" : "the run stands still");
    for (const each of [this.effectsEnd, this.stageEnd]) each.abort(reason);
  }

  private finish(
    status: "completed" | "failed" | "cancelled",
    result: Json,
    failure: Failure | null,
  ): Promise<LeftRun> {
    const { checkpoint, told } = this;
    const { learns } = this.around;
    const end = { status, result, failure, learns, ...told };
    return this.leave((run, isRetry) => lastWords(this.desk, run, checkpoint, end, isRetry));
  }

  private leave(make: (run: RunRecord, isRetry: boolean) => Left | Promise<Left>): Promise<LeftRun> {
    return leaveRun(this.around.store, this.desk, this.run, make);
  }

  /** The program does something else than before: nothing of that is done, and the run stands still where it was. */
  private async pauseFor({ message }: ReplayError): Promise<LeftRun> {
    this.over("paused");
    await this.performer?.underWay.settled();
    this.player?.stop();
    await noLonger(this.around.timer, STOP_MS, this.computing);
    await this.holding.giveBackLeft();
    return this.leave((run) => standsStill(this.desk, run, { epoch: this.desk.epoch, problem: message }));
  }

  private async pause(): Promise<LeftRun> {
    const { player } = this;
    if (player === null) throw new ClaimLostError(this.run.id);
    // What is still under way is given up: it is charged for what it used, and tried again later.
    this.effectsEnd.abort(new RunError("paused", "the run stands still"));
    await this.performer?.underWay.settled();
    await player.between(async () => this.save(player, (await this.played?.snapshot?.()) ?? null));
    player.stop();
    this.over("paused");
    const blocked = [...this.blocked.values()];
    // It has done all again that it had done before, so that there is no going back to former code.
    return this.leave(({ former_code: _, ...run }) =>
      suspension({
        store: this.around.store,
        run: { ...run, ...this.told },
        epoch: this.desk.epoch,
        blocked,
        timedOut: this.timedOut,
        expires_ms: run.approval_ms ?? this.around.approval_ms,
      }),
    );
  }
}

/** What the program has said that a process must have to go on from where it was saved. */
function needsOf({ needs = null }: JsonObject): JsonObject | null {
  return needs as JsonObject | null;
}
