import type { Budget, Path } from "../core/budget.js";
import type { JsonObject } from "../core/chain/canonical.js";
import { StaleError } from "../core/document.js";
import { InputError, LedgerError } from "../core/errors.js";
import { Events } from "../core/events.js";
import { checkWait } from "../core/fields.js";
import { type BudgetAmounts, type BudgetLimits, readExtension, readLimits } from "../core/input.js";
import type { Outcome, OutcomeOf, PutOperation } from "../core/operation.js";
import type { Preflight } from "../foresight/preflight.js";
import type { Program, ProgramTerms } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { newName } from "../runtime/names.js";
import { systemTimer } from "../runtime/system-clock.js";
import { AnnouncedStore } from "./announced-store.js";
import { type ApprovalKind, type ApprovalRequest, readApproval } from "./approval.js";
import { Brood } from "./brood.js";
import { APPROVAL_MS, type BursarOptions, CLAIM_MS, checkOptions, learnsFrom, printedTo } from "./bursar-options.js";
import { runOfCheckpoint } from "./checkpoint.js";
import { type Claim, claimOf, putClaim, readClaim, taken } from "./claim.js";
import { startClocks } from "./clocks.js";
import { Conductor } from "./conductor.js";
import {
  type ApproveOptions,
  approve,
  type DenyOptions,
  deny,
  findApproval,
  goingOn,
  openRequest,
  requestOfRun,
} from "./decisions.js";
import type { Handlers } from "./deed.js";
import { readDefaults } from "./default-terms.js";
import { Driven } from "./driven.js";
import type { LeftRun } from "./ending.js";
import { ClaimLostError, isLacking, NotEquippedError, ProgramChangedError } from "./error.js";
import { type Foresight, foresightOf, type Intended, switchedOff } from "./foresight.js";
import { handlersFor } from "./handlers.js";
import { checkHints, type ExecutionHints, hintedExtensions } from "./hints.js";
import { toJson } from "./json.js";
import { NO_PROGRAM } from "./no-program.js";
import { openSession } from "./open-session.js";
import { checkStart, openRun, type StartOptions, unopened } from "./opening.js";
import { askedAnew } from "./preflight-request.js";
import { isOperator, mayDecide, OPERATOR, type Principal } from "./principal.js";
import { hasChanged, hasLeft, noteLeft, Programs } from "./programs.js";
import { hasEnded, isNew, putRun, type RunRecord, readRun, record } from "./record.js";
import { findDivergence } from "./replay-check.js";
import { requestAbout } from "./request.js";
import { currentRequest } from "./request-needs.js";
import { type RunResult, resultOf } from "./result.js";
import { type RunWithRequests, runWithRequests } from "./run-with-requests.js";
import { sessionBudget } from "./session-budget.js";
import { sleep } from "./sleep.js";
import { fromSessionOf, mergeTerms, type RunTerms, sessionClamp } from "./terms.js";

const LOOK_MS = 500;
/** A run that could not be brought back here is not tried again for so long, unless another process has driven it since. */
const UNABLE_MS = 60_000;

/** How a run is let go on that stands still. */
export interface ResumeOptions {
  /** Lets it go on though the code of its program was changed: that is played against the journal, and pauses where it differs. */
  readonly replayChanged?: boolean;
  /** What is added to its budget first, by an operator. */
  readonly hints?: ExecutionHints;
}

interface UnableRun {
  readonly epoch: number;
  readonly error: Error;
  readonly at: number;
}

/**
 * Runs programs inside budgets: starts them, drives them, pauses and resumes them, on a store that any number of processes share.
 *
 * @example
 * ```ts
 * const bursar = openBursar({ store: await openStore(), programs: [summarize], tools: [fetchPage] });
 * const result = await bursar.run("summarize", { url }, { limits: { cost_usd: 0.5, steps: 20 } });
 * if (result.status === "paused") await bursar.approve(result.approval_id, { by: { name: "ann", role: "operator" } });
 * ```
 */
export class Bursar implements AsyncDisposable {
  readonly store: Store;
  private readonly options: BursarOptions;
  private readonly timer: Timer;
  private readonly handlers: Handlers;
  private readonly programs: Programs;
  private readonly worker: string;
  private readonly events: Events;
  private readonly driving = new Driven();
  private readonly brood: Brood;
  /** Runs that could not be brought back here, and under which claim. */
  private readonly unable = new Map<string, UnableRun>();
  /** Null when it is switched off. */
  private readonly foresight: Foresight | null;

  constructor(options: BursarOptions) {
    checkOptions(options);
    this.options = options;
    const { store, webhook } = options;
    this.store = webhook === undefined ? store : AnnouncedStore.over(store, webhook);
    this.timer = options.timer ?? systemTimer;
    const { tools = [], model = null, batches = null, handlers = {}, programs = [] } = options;
    this.handlers = handlersFor({ tools, model, learns: learnsFrom(options), batches, more: handlers });
    this.programs = new Programs(programs, options.revive ?? (() => null));
    this.worker = options.worker ?? newName(this.store.clock.now().instant);
    this.events = Events.for(this.store.dimensions);
    this.foresight = foresightOf(options, this.timer, this.programs);
    this.brood = new Brood({
      store: this.store,
      timer: this.timer,
      programs: this.programs,
      foresight: this.foresight,
      approval_ms: options.approval_ms ?? APPROVAL_MS,
      told: (run) => this.told(run),
      drive: (id) => this.drive(id),
      cancel: (id, reason) => this.end(id, { by: "parent", reason }),
      wake: (id) => this.rouse(id),
    });
  }

  /** Writes a run down, for whoever drives it. Started again under the same name, it is the same run. */
  async start(
    program: string | Program,
    input: unknown,
    options: StartOptions & { readonly by?: Principal } = {},
  ): Promise<RunRecord> {
    const { by, said, terms } = await this.termsFor(program, options);
    const { dimensions, clock } = this.store;
    const policy = this.foresight?.policyFor(said, by) ?? null;
    if (policy === null && said.preflight !== undefined) throw switchedOff("preflight");
    const { id = newName(clock.now().instant), session } = said;
    const known = said.id === undefined ? null : await this.store.document("run", id);
    if (known !== null) return readRun(known);
    const intended = this.intended(program, input, id, by);
    this.programs.learn(intended.program);
    const opened = await this.newSession(program, said, by);
    if (opened !== null) await this.openSession(opened.id, opened.limits);
    const checked = policy === null ? null : await this.foresight?.check(intended, said, terms, policy);
    const start = { ...intended, instant: clock.now().instant, by: by.name };
    const beforehand = { dimensions, checked: checked ?? null, approval_ms: this.options.approval_ms ?? APPROVAL_MS };
    let run: RunRecord;
    try {
      run = startedIn(await this.store.apply(openRun(start, said, terms, beforehand)));
    } catch (error) {
      const there = await this.store.document("run", id);
      if (there !== null) return readRun(there);
      if (error instanceof LedgerError && session !== undefined) throw await unopened(this.store, session, error);
      throw error;
    }
    if (run.status === "paused" || hasEnded(run)) this.told(run);
    return run;
  }

  /** What a run would be expected to take, and whether it would fit. Nothing is started, and nothing is written. */
  async estimate(
    program: string | Program,
    input: unknown,
    options: StartOptions & {
      readonly by?: Principal;
      /** Limits of budgets above the run that are not open yet: they clamp it as they will when it is started. */
      readonly within?: BudgetLimits;
    } = {},
  ): Promise<Preflight> {
    const { by, said, terms } = await this.termsFor(program, options);
    if (this.foresight === null) throw switchedOff("options.foresight");
    const id = said.id ?? newName(this.store.clock.now().instant);
    // What would be opened for the run clamps it already.
    const { session: _, ...rest } = said;
    const isNew = (await this.newSession(program, said, by)) !== null;
    return this.foresight.estimate(this.intended(program, input, id, by), isNew ? rest : said, terms);
  }

  /** Starts a run and drives it to its end, or to its first pause. */
  async run(
    program: string | Program,
    input: unknown,
    options: StartOptions & { readonly by?: Principal } = {},
  ): Promise<RunResult> {
    const started = await this.start(program, input, options);
    return this.outcomeOf(started.id, started);
  }

  /** Drives a run until it stands still or has ended; waits for it when another worker drives it. */
  async drive(id: string): Promise<RunRecord> {
    return (await this.follow(id, null)).run;
  }

  /** The same for a run that was read a moment ago. */
  private async follow(id: string, read: RunRecord | null): Promise<LeftRun> {
    for (let known = read; ; known = null) {
      if (this.driving.isClosed) throw new ClaimLostError(id, "closed");
      const own = this.driving.end(id);
      const left: LeftRun =
        own === null
          ? { run: known ?? (await this.find(id)), budget: null }
          : await own.catch(async (error) => ({ run: await this.lost(id, error), budget: null }));
      const { run } = left;
      if (hasEnded(run) || run.status === "paused") return left;
      if (this.driving.has(id)) continue;
      if (!(await this.claim(run)) && !this.driving.isClosed) await sleep(this.timer, LOOK_MS);
    }
  }

  /** The same, and tells how far it has come. Whatever is decided the moment after a pause is driven on too. */
  async outcome(id: string): Promise<RunResult> {
    return this.outcomeOf(id, null);
  }

  private async outcomeOf(id: string, read: RunRecord | null): Promise<RunResult> {
    for (let known = read; ; known = null) {
      const { run, budget } = await this.follow(id, known);
      const { result } = await this.resultWithRequests(run, budget);
      if (result.status !== "queued" && result.status !== "running") return result;
    }
  }

  /** Whether a run is driven in this process. */
  isDriving(id: string): boolean {
    return this.driving.has(id);
  }

  /** Takes a run if nobody has it. Tells whether it was there to be taken. */
  claim(run: RunRecord): Promise<boolean> {
    return this.driving.taking(this.take(run));
  }

  private async take(run: RunRecord): Promise<boolean> {
    // A worker that finds a run by its status reads it a moment later: it may have ended or paused by then.
    if (run.status !== "queued" && run.status !== "running") return false;
    const { claim_ms = CLAIM_MS } = this.options;
    const isFirst = isNew(run);
    const claim = isFirst ? readClaim(run.id, null) : await claimOf(this.store, run.id);
    const next = taken(claim, this.worker, this.store.clock.now().instant, claim_ms);
    if (next === null || this.driving.has(run.id) || this.driving.isClosed) return false;
    // Who only ends a run need not know its program.
    const program = run.cancel === null ? await this.programFor(run, claim) : NO_PROGRAM;
    if (run.cancel === null) await this.checkBelow(run);
    const running: RunRecord = playedWith(run, program);
    let path: Path;
    try {
      const claimed = record(run, "RunClaimed", { worker: this.worker, epoch: next.epoch });
      const clocks = await startClocks(this.store, run, claim.worker === null ? null : claim.spoke);
      const look = { op: "look", budget: run.budget } as const;
      const outcomes = await this.store.apply([putClaim(next), putRun(running), claimed, ...clocks, look]);
      ({ path } = outcomes.at(-1) as OutcomeOf<typeof look>);
    } catch (error) {
      // Another worker may have taken it, and ended it with its budget, since it was read.
      if (error instanceof StaleError || (await this.find(run.id)).version !== run.version) return false;
      throw error;
    }
    const conductor = new Conductor(
      {
        store: this.store,
        timer: this.timer,
        handlers: this.handlers,
        children: this.brood,
        claim_ms,
        approval_ms: this.options.approval_ms ?? APPROVAL_MS,
        learns: this.foresight !== null,
        printed: printedTo(this.options),
        describeError: this.options.describeError ?? null,
      },
      program,
      { ...running, version: run.version + 1 },
      { claim: { ...next, version: claim.version + 1 }, isNew: isFirst, path },
    );
    this.driving.drive(run.id, conductor).then(
      ({ run }) => {
        noteLeft(program, run);
        this.told(run);
      },
      (error) => {
        if (isLacking(error)) this.unable.set(run.id, { epoch: next.epoch, error, at: this.store.clock.now().instant });
      },
    );
    return true;
  }

  /** The program of a run, if this process can go on with it. */
  private async programFor(run: RunRecord, { epoch, needs }: Claim): Promise<Program> {
    const unable = this.unable.get(run.id);
    if (unable !== undefined) {
      const isRecent = this.store.clock.now().instant - unable.at < UNABLE_MS;
      if (unable.epoch === epoch && isRecent) throw unable.error;
      this.unable.delete(run.id);
    }
    const program = this.programs.of(run);
    const missing = (await program.missing?.(needs)) ?? [];
    if (missing.length > 0) throw new NotEquippedError(run.id, missing);
    return program;
  }

  /**
   * What this process lacks to go on with a run, or with a run above it, in words for people; nothing when it has all. What it lacks,
   * another process may have.
   */
  async missingFor(
    id: string,
    { replayChanged = false }: Pick<ResumeOptions, "replayChanged"> = {},
  ): Promise<readonly string[]> {
    const missing = new Set<string>();
    for await (const run of this.upwards(id)) await this.addMissing(run, replayChanged, missing);
    return [...missing];
  }

  /** What a run that stands still lacks here, and those below it that it waits for. */
  private async addMissing(run: RunRecord, replayChanged: boolean, missing: Set<string>): Promise<void> {
    const standing = [run];
    for await (const child of this.below(run)) standing.push(child);
    for (const each of standing) {
      try {
        await this.checkEquipped(replayChanged ? { ...each, replay_changed: true } : each);
      } catch (error) {
        if (!isLacking(error)) throw error;
        for (const what of error instanceof NotEquippedError ? error.missing : [error.message]) missing.add(what);
      }
    }
  }

  /** One that stands still is not driven: the run above it stands still too, wherever it is driven. */
  private async checkBelow(run: RunRecord): Promise<void> {
    for await (const child of this.below(run)) if (child.status !== "paused") await this.checkEquipped(child);
  }

  /** Throws when this process lacks something to go on with a run that no other process drives. */
  private async checkEquipped(run: RunRecord): Promise<void> {
    const claim = await claimOf(this.store, run.id);
    const isDriven = claim.worker !== null && claim.expires > this.store.clock.now().instant;
    if (hasEnded(run) || run.cancel !== null || isDriven) return;
    await this.programFor(run, claim);
  }

  /** The runs below a run that it stands still for, or that it has to hear from next. */
  private async *below({ pause, awaits = [] }: RunRecord): AsyncIterable<RunRecord> {
    for (const id of pause?.children ?? awaits) {
      const document = await this.store.document("run", id);
      if (document === null) continue;
      const child = readRun(document);
      yield child;
      yield* this.below(child);
    }
  }

  /** A run, and those above it. */
  private async *upwards(id: string): AsyncIterable<RunRecord> {
    for (let next: string | null = id; next !== null; ) {
      const document = await this.store.document("run", next);
      if (document === null) return;
      const run = readRun(document);
      yield run;
      next = run.parent;
    }
  }

  /** Lets a run, and those above it, go on though the code of their programs was changed, whenever they are driven next. */
  async allowChanged(id: string, by: Principal = OPERATOR): Promise<void> {
    mayDecide(by, "allow a changed program");
    for await (const run of this.upAndDown(id)) await this.allowOne(run.id, by);
  }

  /** A run, those above it, and those below that it stands still for. */
  private async *upAndDown(id: string): AsyncIterable<RunRecord> {
    yield* this.upwards(id);
    yield* this.below(await this.find(id));
  }

  /** Before anything is decided: a run whose program was changed stands still until an operator allows the changed one. */
  private async checkUnchanged(ids: readonly string[], by: Principal, replayChanged: boolean): Promise<void> {
    const runs = new Map<string, RunRecord>();
    for (const id of ids) for await (const run of this.upAndDown(id)) runs.set(run.id, run);
    const going = [...runs.values()].filter((run) => !hasEnded(run));
    if (replayChanged) for (const { id } of going) await this.allowOne(id, by);
    else await Promise.all(going.filter((run) => run.replay_changed !== true).map((run) => this.checkSame(run)));
  }

  /** Of a program that this process has: whether its code was changed, or what is around it, so that it does something else. */
  private async checkSame(run: RunRecord): Promise<void> {
    const program = this.programs.knownFor(run);
    if (program === null) return;
    if (hasChanged(run, program)) throw new ProgramChangedError(run.id, run.program.name);
    if (program.code === undefined || run.status === "running" || hasLeft(program, run)) return;
    const divergence = await findDivergence(this.store, run, program);
    if (divergence !== null) throw new ProgramChangedError(run.id, run.program.name, { cause: divergence });
  }

  private async allowOne(id: string, by: Principal): Promise<void> {
    for (;;) {
      const run = await this.find(id);
      // Without a code of its own it is told by what it does alone.
      if (hasEnded(run) || run.program.code === undefined || run.replay_changed === true) return;
      try {
        const allowed = record(run, "ChangedProgramAllowed", { program: run.program.name, by: by.name });
        return void (await this.store.apply([putRun({ ...run, replay_changed: true }), allowed]));
      } catch (error) {
        if (!(error instanceof StaleError)) throw error;
      }
    }
  }

  /** Does what is due for model calls that can wait; the runs that their answers wake are there to be driven then. */
  async collect(signal?: AbortSignal): Promise<void> {
    await this.options.batches?.round(signal === undefined ? {} : { signal });
  }

  /** Says yes to a request, by its id or by that of its checkpoint, and drives the run on. */
  async approve(id: string, options: ApproveOptions): Promise<RunResult> {
    const request = await requestOfRun(this.store, id);
    return this.driven(id, await this.decideOver(request, "approve", options));
  }

  /** Says no to a request, and drives the run to its end, or past the one action that was refused. */
  async deny(id: string, options: DenyOptions): Promise<RunResult> {
    const request = await requestOfRun(this.store, id);
    return this.driven(id, await this.decideOver(request, "deny", options));
  }

  /**
   * Answers a request and leaves the driving to others, so that to decide takes nothing of what the run needs. It is the way for
   * requests that no run stands still for, such as those of the gateway's clients: then a budget is extended, or is not.
   */
  async decide(id: string, answer: "approve" | "deny", options: ApproveOptions): Promise<ApprovalRequest> {
    mayDecide(options.by, "decide over a request");
    return this.decideOver(await findApproval(this.store, id), answer, options);
  }

  private async decideOver(
    request: ApprovalRequest,
    answer: "approve" | "deny",
    options: ApproveOptions,
  ): Promise<ApprovalRequest> {
    await this.checkDecision(request, answer, options);
    return (answer === "approve" ? approve : deny)(this.store, request, options);
  }

  private async checkDecision(
    { run, waiting, kind, status }: ApprovalRequest,
    answer: "approve" | "deny",
    options: ApproveOptions,
  ): Promise<void> {
    mayDecide(options.by, "decide over a request");
    // A no to more budget ends the run, which takes no program.
    const goesOn = kind === "capability_execution" || (kind === "budget_extension" && answer === "approve");
    if (run === null || !goesOn || status !== "pending") return;
    const runs = kind === "budget_extension" ? waiting.flatMap((calls) => calls.run ?? []) : [run];
    await this.checkUnchanged(runs, options.by, options.replayChanged === true);
  }

  /** Adds to a run's budget, or to a session's, without being asked. */
  async extend(budget: string, extensions: BudgetAmounts, { by, reason = null }: DenyOptions): Promise<void> {
    mayDecide(by, "extend a budget");
    const additional = readExtension(extensions, this.store.dimensions);
    await this.store.apply([{ op: "extend", budget, additional, approved_by: by.name, reason, must: true }]);
  }

  /** Lets a run go on from its checkpoint, with what an operator adds to its budget; that is refused where nobody asks for anything. */
  async resumeFromCheckpoint(id: string, extensions?: BudgetAmounts, by: Principal = OPERATOR): Promise<RunResult> {
    mayDecide(by, "resume a run");
    if (extensions !== undefined) return this.approve(id, { by, extensions });
    const request = await openRequest(this.store, id);
    if (request !== null) return this.approve(request.id, { by });
    return this.resume(runOfCheckpoint(id) ?? id, by);
  }

  /** Lets a run go on. What was asked for and has expired is asked for anew. */
  async resume(id: string, by: Principal = OPERATOR, options: ResumeOptions = {}): Promise<RunResult> {
    await this.wake(id, by, options);
    return this.outcome(id);
  }

  /** The same, and leaves the driving to others. */
  async wake(
    id: string,
    by: Principal = OPERATOR,
    { replayChanged = false, hints }: ResumeOptions = {},
  ): Promise<void> {
    mayDecide(by, "resume a run");
    checkHints(hints, by);
    await this.checkUnchanged([id], by, replayChanged);
    if (hints !== undefined) {
      const { budget } = await this.find(id);
      await this.store.apply(hintedExtensions(hints, budget, by.name, this.store.dimensions));
    }
    await this.rouse(id);
  }

  /** Ends a run, wherever it stands. */
  async cancel(id: string, by: Principal = OPERATOR, reason: string | null = null): Promise<RunResult> {
    mayDecide(by, "cancel a run");
    return this.result(await this.end(id, { by: by.name, reason }));
  }

  /** The session's budget, opened with these limits if it is not there yet. */
  openSession(id: string, limits: BudgetLimits): Promise<void> {
    return openSession(this.store, id, limits);
  }

  async find(id: string): Promise<RunRecord> {
    const document = await this.store.document("run", id);
    if (document === null) throw new InputError("run", `${id} is not there`);
    return readRun(document);
  }

  async *approvals(status = "pending"): AsyncIterable<ApprovalRequest> {
    for await (const document of this.store.documents("approval", status)) {
      yield await currentRequest(this.store, readApproval(document));
    }
  }

  /** Asks a human about something that is no matter of the budget, such as a server that a program has found. */
  async request(
    run: string,
    kind: Exclude<ApprovalKind, "budget_extension">,
    action: JsonObject,
  ): Promise<ApprovalRequest> {
    const { approval_ms = APPROVAL_MS } = this.options;
    const found = await this.find(run);
    return requestAbout(this.store, found, kind, action, found.approval_ms ?? approval_ms);
  }

  /** What is known of a run, with what it has used; by now, if it was decided over since it was looked at. */
  async result(run: RunRecord): Promise<RunResult> {
    return (await this.resultWithRequests(run)).result;
  }

  /** The same, with the run and what it waits for as they are by now. */
  async resultWithRequests(
    known: RunRecord,
    ended: Budget | null = null,
  ): Promise<RunWithRequests & { readonly result: RunResult }> {
    const { run, requests } = await runWithRequests(this.store, known);
    const budget = ended ?? (await this.store.budget(run.budget));
    const usage: JsonObject = budget === null ? {} : this.events.consumed(budget, this.store.clock.now());
    return { run, requests, result: resultOf(run, usage, requests) };
  }

  /** The name that a program is governed by: "" when an agent brings it along, and could choose a budget with its name. */
  governedName(program: string | Program, by: Principal): string {
    return this.programs.governedName(program, by);
  }

  /** Lets go of everything here at once; what was under way is resumable. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Lets go of everything here. Calls that are being made have so long to come to their end: then they are settled with what they
   * used, and whoever resumes their runs need not make them again. What takes longer is given up, charged as reserved.
   */
  async close({ within_ms = 0 }: { readonly within_ms?: number } = {}): Promise<void> {
    checkWait(within_ms, "within_ms");
    await this.driving.close(within_ms);
  }

  private intended(program: string | Program, input: unknown, id: string, by: Principal): Intended {
    const chosen = typeof program === "string" ? this.programs.named(program) : program;
    return { id, program: chosen, input: toJson(input, "the input"), brought: this.programs.isBrought(chosen, by) };
  }

  /** What is said about a run, and the budget that comes of it; throws when it is not his to say. */
  private async termsFor(
    program: string | Program,
    { by = OPERATOR, within, ...options }: StartOptions & { readonly by?: Principal; readonly within?: BudgetLimits },
  ): Promise<{ readonly by: Principal; readonly said: StartOptions; readonly terms: RunTerms }> {
    const { dimensions } = this.store;
    const defaults = readDefaults(this.options.governance?.(this.governedName(program, by)) ?? {}, dimensions);
    checkStart(options, by);
    const own = this.ownTerms(program);
    const clamps = within === undefined ? [] : [{ limits: readLimits(within, dimensions), from: "session" }];
    const { session, session_limits = own.session_limits } = options;
    if (session_limits !== undefined) {
      const from = options.session_limits === undefined ? fromSessionOf(own) : "session";
      const budget = session === undefined ? null : await this.store.budget(sessionBudget(session));
      clamps.push(sessionClamp(session_limits, from, budget, dimensions));
    }
    const terms = mergeTerms({ by, said: options, program: own, defaults, clamps }, dimensions);
    const { thresholds, approval_ms } = defaults;
    const usual = {
      ...(thresholds !== undefined && { thresholds }),
      ...(approval_ms !== undefined && { approval_ms }),
    };
    return { by, said: { ...usual, ...options }, terms };
  }

  private ownTerms(program: string | Program): ProgramTerms {
    return (typeof program === "string" ? this.programs.find(program) : program)?.terms ?? {};
  }

  /**
   * The limits that a session which is not open yet would be opened with; null when there are none. An agent opens no session: it would
   * choose the limits of all runs that come after it.
   */
  private async newSession(
    program: string | Program,
    { session, session_limits = this.ownTerms(program).session_limits }: StartOptions,
    by: Principal,
  ): Promise<{ readonly id: string; readonly limits: BudgetLimits } | null> {
    if (session === undefined || session_limits === undefined || !isOperator(by)) return null;
    return (await this.store.budget(sessionBudget(session))) === null ? { id: session, limits: session_limits } : null;
  }

  private told(run: RunRecord): void {
    const { changed } = this.options;
    // What a listener does with it must not concern the run.
    if (changed !== undefined)
      Promise.resolve(run)
        .then(changed)
        .catch(() => {});
  }

  /**
   * Goes on with the run that was decided over, or with the one above that was named, and begins to drive the others that have waited for
   * the same answer; where that is not possible here, other workers do.
   */
  private async driven(id: string, request: ApprovalRequest): Promise<RunResult> {
    // Whoever has none was turned away before anything was decided.
    const named = runOfCheckpoint(id) ?? (request.run as string);
    for (const { run } of request.waiting) if (run !== null) await this.driveFrom(run, named);
    const result = await this.outcome(named).catch(async (error: unknown) => {
      if (isLacking(error)) return this.result(await this.find(named));
      throw error;
    });
    await this.driveFrom(named, named);
    return result;
  }

  /** Begins to drive a run and those above it, where nobody does; all but the one that is driven already. */
  private async driveFrom(from: string, but: string): Promise<void> {
    for (let id: string | null = from; id !== null; ) {
      const run = await this.find(id);
      if (run.status === "queued" && id !== but) this.drive(id).catch(() => {});
      id = run.parent;
    }
  }

  /** Lets a run go on, and first those below it that it waits for. */
  private async rouse(id: string): Promise<void> {
    const run = await this.find(id);
    for (const child of run.pause?.children ?? []) await this.rouse(child);
    const held = await askedAnew(this.store, run, this.options.approval_ms ?? APPROVAL_MS);
    const operations = held ?? (await goingOn(this.store, [id]));
    if (operations.length > 0) await this.store.apply(operations);
  }

  /** Whoever drives the run next ends it, and what is below it. */
  private async end(id: string, cancel: NonNullable<RunRecord["cancel"]>): Promise<RunRecord> {
    for (;;) {
      const run = await this.find(id);
      if (hasEnded(run)) return run;
      try {
        if (run.status === "paused") await this.store.apply(await goingOn(this.store, [id], { cancel }));
        else if (run.cancel === null) await this.store.apply([putRun({ ...run, cancel })]);
        this.driving.cancel(id);
        return await this.drive(id);
      } catch (error) {
        if (!(error instanceof StaleError)) throw error;
      }
    }
  }

  /** A run that was taken over is looked for where it is now; any other fault is the caller's to know. */
  private lost(id: string, error: unknown): Promise<RunRecord> {
    if (error instanceof ClaimLostError) return this.find(id);
    throw error;
  }
}

/** The run that was started by these operations. */
function startedIn(outcomes: readonly Outcome[]): RunRecord {
  const written = outcomes.find((outcome) => outcome.op === "put" && outcome.document.kind === "run");
  return readRun((written as OutcomeOf<PutOperation>).document);
}

/** A run as it is while it is driven with this program. */
function playedWith(run: RunRecord, program: Program): RunRecord {
  if (program === NO_PROGRAM) return { ...run, status: "running" };
  const { replay_changed: _, awaits: __, ...rest } = run;
  const { code } = program;
  if (code === undefined) return { ...rest, status: "running" };
  const { code: former } = run.program;
  const changed = hasChanged(run, program) && former !== undefined && { former_code: former };
  return { ...rest, status: "running", ...changed, program: { ...run.program, code } };
}

export function openBursar(options: BursarOptions): Bursar {
  return new Bursar(options);
}
