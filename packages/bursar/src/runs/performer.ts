import type { Amounts } from "../core/amount.js";
import type { JsonObject } from "../core/chain/canonical.js";
import { type Decision, outermost } from "../core/decision.js";
import { BursarError, InputError, LedgerError } from "../core/errors.js";
import type { Action } from "../core/events.js";
import { explainDecision } from "../core/explain.js";
import type { Operation } from "../core/operation.js";
import type { OwnEffect } from "../ports/program.js";
import type { Timer } from "../ports/timer.js";
import { noteOperations } from "../runtime/answer-notes.js";
import type { Effected, Gate, GatedCall } from "../runtime/gate.js";
import { costUnknown } from "../runtime/money-limit.js";
import { type Purse, withPurse } from "../runtime/purse.js";
import { extractResultUsage, extractUsage } from "../runtime/reported-usage.js";
import { OutOfTime } from "../runtime/time-limit.js";
import { untilAborted } from "../runtime/until-aborted.js";
import { canWait } from "./batch-deed.js";
import { callId } from "./call-id.js";
import type { Asking, CallDeed, ChildRequest, Deed, Doing, Handlers } from "./deed.js";
import type { Desk } from "./desk.js";
import type { Direction } from "./direction.js";
import { drop } from "./drop.js";
import { isFault, RefusedInside, RunError, type WrittenError, writeError } from "./error.js";
import { OUT_OF_TIME } from "./exhaustion.js";
import { type Admission, HandedOver } from "./handed-over.js";
import { InnerCalls } from "./inner-calls.js";
import { InnerCharges } from "./inner-charges.js";
import { type Answered, type AskEntry, journalAnswer, journalAsk } from "./journal.js";
import { toJson } from "./json.js";
import { LeftOver } from "./left-over.js";
import type { Player } from "./player.js";
import { quoteOf } from "./quote.js";
import { shownBudget } from "./shown-budget.js";
import { sleep } from "./sleep.js";
import type { Surroundings } from "./surroundings.js";
import { UnderWay } from "./under-way.js";

/** What the gate did not even try. */
interface Failed {
  readonly kind: "failed";
  readonly error: unknown;
}

/** What is written about an answer, from the moment it was told. */
interface Told {
  entry: Operation | null;
}

/** A reservation of a run is settled by whoever resumes the run; only after so long does anybody else. */
const DAY_MS = 24 * 60 * 60_000;

/** Carries out what a program asks for, and writes down what became of it. */
export class Performer {
  private readonly desk: Desk;
  private readonly gate: Gate;
  private readonly timer: Timer;
  private readonly handlers: Handlers;
  private readonly direct: Direction;
  private readonly player: Player;
  private readonly describeError: Surroundings["describeError"];
  readonly underWay: UnderWay = new UnderWay();
  private readonly leftOver: LeftOver;
  private readonly handedOver: HandedOver;

  constructor(options: {
    readonly desk: Desk;
    readonly gate: Gate;
    readonly timer: Timer;
    readonly handlers: Handlers;
    readonly direct: Direction;
    readonly player: Player;
    readonly describeError: Surroundings["describeError"];
  }) {
    this.desk = options.desk;
    this.gate = options.gate;
    this.timer = options.timer;
    this.handlers = options.handlers;
    this.direct = options.direct;
    this.player = options.player;
    this.describeError = options.describeError;
    this.leftOver = new LeftOver(options.desk, options.direct.run.id);
    this.handedOver = new HandedOver({
      desk: options.desk,
      timer: options.timer,
      direct: options.direct,
      admit: (ask, admission) => this.admit(ask, admission),
      answer: (ask, answered, alongside) => this.answer(ask, answered, alongside),
    });
  }

  perform(ask: AskEntry, own?: OwnEffect): void {
    const { run, part, broken } = this.direct;
    this.desk.later([journalAsk(run.id, part, ask, this.desk.epoch)]);
    this.underWay.add(ask.number, this.carryOut(ask, own).catch(broken), () => this.direct.look());
  }

  private async carryOut(ask: AskEntry, own: OwnEffect | undefined): Promise<void> {
    // Whatever is set up here: what was handed over is not asked for again.
    const item = canWait(ask) ? await this.handedOver.find(ask) : null;
    if (item !== null) return this.handedOver.follow(ask, item);
    const decided = this.deedFor(ask, own);
    let deed: Deed;
    try {
      deed = await untilAborted(decided, this.direct.signal);
    } catch (error) {
      if (this.direct.signal.aborted) return void decided.then(drop, () => {});
      if (isFault(error)) throw error;
      return this.answer(ask, { error: writeError(error) });
    }
    return this.carry(ask, deed).catch((error: unknown) => {
      drop(deed);
      throw error;
    });
  }

  private async carry(ask: AskEntry, deed: Deed): Promise<void> {
    switch (deed.kind) {
      case "value":
        return this.answer(ask, { value: deed.value }, this.recorded(deed.record));
      case "sleep":
        await sleep(this.timer, deed.until - this.desk.clock.now().instant, this.direct.signal);
        if (this.direct.signal.aborted) return;
        return this.answer(ask, { value: null });
      case "child":
        return this.child(ask, deed.child);
      case "batch":
        await this.leftOver.settle(ask, { happened: true });
        return this.handedOver.handOver(ask, deed);
      case "call":
        return this.call(ask, deed);
    }
  }

  private async deedFor(ask: AskEntry, own: OwnEffect | undefined): Promise<Deed> {
    const handler = Object.hasOwn(this.handlers, ask.name) ? this.handlers[ask.name] : undefined;
    if (handler === undefined) {
      const known = Object.keys(this.handlers).join(", ");
      throw new RunError("unknown_effect", `there is nothing called ${ask.name} to ask for; there is ${known}`);
    }
    const { run } = this.direct;
    const asking: Asking = {
      run,
      number: ask.number,
      instant: ask.instant,
      store: this.desk,
      budget: () => this.shownBudget(),
      settled: () => this.underWay.charged(),
      own: own ?? null,
    };
    return handler(ask.args, asking);
  }

  /** The calls that the program has answers of are settled first: it counts on them being used. */
  private async shownBudget(): Promise<JsonObject> {
    await this.underWay.charged();
    return shownBudget(this.desk, this.direct.run.budget);
  }

  /** Tells the program, and writes down that it was told; the next effect waits until that is kept. */
  private async answer(ask: AskEntry, answered: Answered, alongside: readonly Operation[] = []): Promise<void> {
    const at = await this.player.hand(ask.number, answered);
    if (at !== null) this.desk.later([this.answerEntry(ask, at, answered), ...alongside]);
  }

  private recorded(action: Action | undefined): readonly Operation[] {
    return action === undefined ? [] : [{ op: "record", budget: this.direct.run.budget, action }];
  }

  /** What the program is told of an error that is none of ours. */
  private written(error: unknown, capability: string): WrittenError {
    if (this.describeError === null || error instanceof BursarError) return writeError(error);
    try {
      return writeError(new RunError("failed", String(this.describeError(error, capability))));
    } catch {
      return writeError(new RunError("failed", `${capability} failed`));
    }
  }

  private answerEntry({ number }: AskEntry, at: number, answered: Answered): Operation {
    return journalAnswer(this.direct.run.id, this.direct.part, { at, number, answered });
  }

  private async call(ask: AskEntry, deed: CallDeed): Promise<void> {
    const { run, signal } = this.direct;
    // A model was paid for, whatever became of its answer; of all else it is not known, and nothing is charged.
    if ((await this.leftOver.settle(ask, { happened: deed.call === "model" })) && deed.interrupted === "fail") {
      const message = `the worker died while ${deed.capability_id} was under way; whether it has happened is not known`;
      return this.answer(ask, { error: writeError(new RunError("interrupted", message)) });
    }
    if (deed.approval === true) {
      const decided = await this.direct.decided(ask);
      if (decided === "denied") {
        return this.answer(ask, { error: writeError(new RunError("denied", `${deed.capability_id} was denied`)) });
      }
      if (decided === null) {
        const action = { capability_id: deed.capability_id, args: ask.args };
        return this.direct.block(ask, { kind: "capability", action });
      }
    }
    const key = `${run.id}/${ask.number}`;
    const call_id = callId(run.id, ask.number, this.desk.epoch);
    const budget = deed.final === true ? (run.wrap_up ?? run.budget) : run.budget;
    const about = { budget, call_id, capability_id: deed.capability_id };
    const call: GatedCall = {
      ...about,
      kind: deed.call,
      input: ask.args,
      ...quoteOf(deed, this.desk.dimensions),
      step_id: key,
      signal,
      expires_ms: DAY_MS,
      ...this.patience(ask),
      ...(deed.unpriced === true && { alongside: (reported: Amounts) => costUnknown(reported, about) }),
    };
    this.desk.later(this.recorded(deed.record), deed.unwritten);
    const told: Told = { entry: null };
    const calls = new InnerCalls(this.desk, { run: run.id, number: ask.number, epoch: this.desk.epoch });
    const doing = { key, call_id, run, gate: this.gate, inner: () => calls.next() };
    const gated = await this.through(() =>
      this.gate.call(call, (signal, granted) => this.make(ask, deed, { ...doing, signal, granted }, told)),
    );
    deed.over?.();
    // It was told just when its time was over: then nothing was written with the settlement.
    if (gated.kind === "failed" && told.entry !== null) return this.desk.later([told.entry]);
    if (gated.kind === "refused") {
      return this.refused(ask, deed.judge?.(gated.decision) ?? gated.decision, gated.message);
    }
    if (gated.kind === "done") return;
    const { error } = gated;
    if (error instanceof RefusedInside) return this.refused(ask, error.decision, error.message);
    if (signal.aborted && !(error instanceof OutOfTime)) return;
    return this.failed(ask, error);
  }

  /** What the gate does not even try is no fault of the store's: the quote makes no sense, or the time is over. */
  private async through<Outcome>(call: () => Promise<Outcome>): Promise<Outcome | Failed> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof LedgerError) {
        // The budget stands still, because the run above does.
        return { kind: "failed", error: new OutOfTime() };
      }
      if (error instanceof InputError || error instanceof OutOfTime || this.direct.signal.aborted) {
        return { kind: "failed", error };
      }
      throw error;
    }
  }

  /** What is held in a run is given back sooner or later, or the run stands still until then. */
  private patience({ number }: AskEntry) {
    const onWait = () => {
      this.underWay.waits(number);
      this.direct.look();
    };
    return { wait_ms: DAY_MS, onWait };
  }

  /** Makes the effect, and tells the program at once; that it was told goes into the transaction of the settlement. */
  private async make(ask: AskEntry, deed: CallDeed, doing: Doing, told: Told): Promise<Effected<Answered>> {
    const { signal } = doing;
    this.underWay.isMade(ask.number);
    const { dimensions } = this.desk;
    const inner = new InnerCharges();
    let answered: Answered;
    let usage: unknown;
    let used: Amounts | undefined;
    const alongside: Operation[] = [];
    const refusals: RefusedInside[] = [];
    const refused = (decision: Decision, message: string) => void refusals.push(new RefusedInside(decision, message));
    try {
      const purse = this.purseFor(deed, doing, refused);
      const made = await inner.during(() => withPurse(purse, () => deed.make(doing)));
      // Who swallows that the run is over does not go on with it.
      const over = refusals.find(({ decision }) => decision.kind === "stopped");
      if (over !== undefined) throw over;
      usage = made.usage;
      if (made.report !== undefined)
        used = inner.beyond(extractResultUsage(made.report, dimensions).amounts, dimensions);
      answered = { value: toJson(made.value) };
      const { budget } = this.direct.run;
      const about = { budget, call_id: doing.call_id, capability_id: deed.capability_id };
      alongside.push(...this.recorded(made.record), ...noteOperations(about, made.notes));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // Whatever an SDK has made of it, it did not fit: that is for the run to answer.
      const [refusal] = refusals;
      if (refusal !== undefined) throw refusal;
      if (error instanceof RefusedInside || isFault(error)) throw error;
      // It was made, and is paid for, also when what it gave back cannot be written down.
      usage ??= error;
      if (deed.call === "tool") used ??= inner.beyond(extractUsage(usage, dimensions).amounts, dimensions);
      answered = { error: this.written(error, deed.capability_id) };
    }
    if (signal.aborted) throw signal.reason;
    await this.player.hand(ask.number, answered, (at) => {
      // Told or not, both at this moment: what comes too late is tried again.
      if (signal.aborted) return false;
      told.entry = this.answerEntry(ask, at, answered);
      this.underWay.isTold(ask.number);
      return true;
    });
    if (told.entry !== null) alongside.push(told.entry);
    return { value: answered, usage, ...(used !== undefined && { used }), alongside };
  }

  /** What a tool asks models inside of itself is paid for by the run; a model call of the run's own is paid for already. */
  private purseFor(deed: CallDeed, { gate, run, inner }: Doing, refused: NonNullable<Purse["refused"]>): Purse {
    const { desk: store } = this;
    const within = run.program.name;
    const purse: Purse = { gate, store, budget: run.budget, chain: run.id, within, name: inner, refused };
    return deed.call === "model" ? { ...purse, metered: true } : purse;
  }

  private refused(ask: AskEntry, decision: Decision, message: string): void | Promise<void> {
    // It was waiting when the run came to a stop, and will be tried again.
    if (this.direct.signal.aborted) return;
    const wanted = decision.kind === "paused" ? outermost(decision) : undefined;
    if (wanted !== undefined) return this.direct.block(ask, { kind: "budget", finding: wanted });
    const [finding] = decision.findings;
    if (decision.kind === "stopped" && finding !== undefined) this.direct.stop(finding);
    const code = decision.kind === "stopped" ? "exhausted" : (finding?.refusal ?? "busy");
    const data: JsonObject = { dimension: finding?.dimension ?? null, budget: finding?.budget ?? null };
    return this.answer(ask, { error: writeError(new RunError(code, message, data)) });
  }

  /** Tells a program that waits in vain. */
  giveUp(ask: AskEntry, error: RunError): Promise<void> {
    return this.answer(ask, { error: writeError(error) });
  }

  /** Settles what a worker that died has left of all effects, which will not be tried again. */
  async settleLeft(asks: readonly AskEntry[]): Promise<void> {
    const handedOver = await this.handedOver.giveUp(asks.filter(canWait));
    for (const ask of asks) {
      if (this.leftOver.isSettled(ask) || handedOver.has(ask.number)) continue;
      const deed = await this.deedFor(ask, undefined).catch(() => null);
      // It was only asked what it would be.
      if (deed !== null) drop(deed);
      const started = deed?.kind === "child" && (await this.direct.hasChild(ask));
      // Who does not know the model any more still has to pay for it.
      const model = deed?.kind === "call" ? deed.call === "model" : ask.name === "llm";
      await this.leftOver.settle(ask, { happened: started || model });
    }
  }

  private async child(ask: AskEntry, request: ChildRequest): Promise<void> {
    const { signal } = this.direct;
    const started = await this.direct.hasChild(ask);
    await this.leftOver.settle(ask, { happened: started });
    if (!started && !(await this.startChild(ask, request))) return;
    try {
      return await this.answer(ask, { value: await this.direct.child(ask) });
    } catch (error) {
      if (isFault(error)) throw error;
      if (signal.aborted) return;
      this.haltWith(error);
      return this.answer(ask, { error: writeError(error) });
    }
  }

  private async startChild(ask: AskEntry, request: ChildRequest): Promise<boolean> {
    const { run, signal } = this.direct;
    const call: GatedCall = {
      budget: run.budget,
      capability_id: `run:${request.program}`,
      kind: "child",
      signal,
      call_id: callId(run.id, ask.number, this.desk.epoch),
      step_id: `${run.id}/${ask.number}`,
      asked: { subcalls: 1, depth: run.depth + 1 },
      ...this.patience(ask),
    };
    const gated = await this.through(() =>
      this.gate.call(call, async (signal) => {
        this.underWay.waitsNoMore(ask.number);
        await this.direct.startChild(ask, request, signal).catch((error) => this.unknown(error));
        return { value: null };
      }),
    );
    if (gated.kind === "done") return true;
    if (gated.kind === "refused") await this.refused(ask, gated.decision, gated.message);
    else await this.failed(ask, gated.error);
    return false;
  }

  /** A store that failed does not say whether a child was started: whoever goes on with the run looks, and settles it then. */
  private unknown(error: unknown): Promise<never> {
    if (!isFault(error)) throw error;
    this.direct.broken(error);
    return new Promise(() => {});
  }

  /** Reserves what is handed over, and leaves the rest to whoever it is handed to. */
  private async admit(ask: AskEntry, { call, judge }: Admission): Promise<boolean> {
    const admit = async () => judge(await this.gate.admit({ ...call, ...this.patience(ask) }));
    const gated = await this.through(async () => ({ kind: "decided", decision: await admit() }) as const);
    this.underWay.waitsNoMore(ask.number);
    if (gated.kind === "failed") await this.failed(ask, gated.error);
    else if (gated.decision.kind === "admitted") return true;
    else await this.refused(ask, gated.decision, explainDecision(gated.decision, this.desk.dimensions));
    return false;
  }

  /** What becomes of an effect that was not even made. */
  private async failed(ask: AskEntry, error: unknown): Promise<void> {
    if (error instanceof OutOfTime) {
      this.direct.outOfTime();
      this.direct.block(ask, { kind: "budget", finding: OUT_OF_TIME });
    } else if (isFault(error)) throw error;
    else if (!this.direct.signal.aborted) await this.answer(ask, { error: writeError(error) });
  }

  /** What a child has used up that is not its own is used up for this run too. */
  private haltWith(error: unknown): void {
    if (!(error instanceof RunError) || error.code !== "child_exhausted") return;
    const { budget, run_id, dimension } = error.data;
    if (budget === run_id || typeof dimension !== "string") return;
    this.direct.stop({ ...OUT_OF_TIME, dimension, budget: String(budget) });
  }
}
