import { type Deferred, deferred } from "../../runtime/deferred.js";
import { currentPurse, type Hold, type Purse } from "../../runtime/purse.js";
import { leaveHold } from "../../runtime/waiting-holds.js";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import type { Meter, Metered } from "../meter/meter.js";
import { callRead } from "../meter/model-call.js";
import { type PaidBy, purseFor } from "../meter/paid-by.js";
import type { RefusalReport } from "../meter/refusal.js";
import { currentDepth, inRound } from "../meter/round.js";
import { toldError } from "../meter/told-error.js";
import { listNamed } from "../tiers/tier-list.js";
import { type AnswerReport, NO_REPORT } from "../wire/answer-report.js";
import { type ChainCall, readChainCall, type ToldStart } from "./chain-call.js";
import { chainClaims, chainCounts } from "./chain-usage.js";

type Fields = Record<string, unknown>;

/** A call that LangChain has told the beginning of. */
interface OpenCall {
  /** Settled when it tells the end. */
  readonly ended: Deferred<AnswerReport>;
  readonly metered: Promise<Metered<null>>;
  /** What is held for it, once it was let in. */
  readonly admitted: Promise<Hold | null>;
}

/** Calls and chains whose end nobody tells, as when a stream is left in the middle, are not kept for ever. */
const MOST_OPEN = 10_000;

export interface HandlerSettings extends PaidBy {
  readonly meter: Meter;
  /** Which wire below meters the requests and holds answers to what is left: nobody's, one of its own by name, or any at all. */
  readonly wire: () => "none" | "any" | { readonly leaver: string };
}

/**
 * Governs the models of LangChain from its callbacks: a call that does not fit is refused before it begins. It says so by throwing,
 * which stops LangChain only because both flags are set.
 */
export class BudgetHandler {
  readonly name = "bursar_budget";
  readonly raiseError = true;
  readonly awaitHandlers = true;
  readonly ignoreRetriever = true;
  readonly ignoreCustomEvent = true;
  private readonly settings: HandlerSettings;
  private readonly calls = new Map<string, OpenCall>();
  /** What is under way around the calls: whom it belongs to, and whether it is a tool. */
  private readonly around = new Map<string, { readonly parent: string | undefined; readonly isTool: boolean }>();

  constructor(settings: HandlerSettings) {
    this.settings = settings;
  }

  handleChatModelStart(
    llm: unknown,
    input: unknown,
    id: string,
    parent?: string,
    extraParams?: Fields,
    _tags?: string[],
    metadata?: Fields,
  ): Promise<void> {
    return this.begin(id, parent, { llm, input, extraParams, metadata });
  }

  handleLLMStart(
    llm: unknown,
    input: string[],
    id: string,
    parent?: string,
    extraParams?: Fields,
    _tags?: string[],
    metadata?: Fields,
  ): Promise<void> {
    return this.begin(id, parent, { llm, input, extraParams, metadata });
  }

  async handleLLMEnd(output: unknown, id: string, _parent?: string, _tags?: string[], extra?: Fields): Promise<void> {
    const call = this.taken(id);
    if (call === undefined) return;
    // What LangChain had in its own cache was not asked for anywhere: nothing is charged, not even an attempt.
    if (extra?.cached === true) await (await call.admitted)?.handDown();
    call.ended.resolve({ counts: chainCounts(output), claims: chainClaims(output) });
    // To fail now would lose an answer that was paid for.
    await call.metered.catch(() => {});
  }

  async handleLLMError(error: unknown, id: string): Promise<void> {
    const call = this.taken(id);
    call?.ended.reject(error);
    await call?.metered.catch(() => {});
  }

  handleChainStart(_chain: unknown, _inputs: unknown, id: string, parent?: string): void {
    this.enter(id, parent, false);
  }

  handleChainEnd(_outputs: unknown, id: string): void {
    this.around.delete(id);
  }

  handleChainError(_error: unknown, id: string): void {
    this.around.delete(id);
  }

  handleToolStart(_tool: unknown, _input: string, id: string, parent?: string): void {
    this.enter(id, parent, true);
  }

  handleToolEnd(_output: unknown, id: string): void {
    this.around.delete(id);
  }

  handleToolError(_error: unknown, id: string): void {
    this.around.delete(id);
  }

  private async begin(id: string, parent: string | undefined, told: ToldStart): Promise<void> {
    // Who names the handler at the model and at the chain is told everything twice, at the same time.
    if (this.calls.has(id) || currentPurse()?.metered === true) return;
    const admitted = deferred<Hold | null>();
    const ended = deferred<AnswerReport>();
    const metered = this.start(parent, told, ended, admitted.resolve);
    keep(this.calls, id, { ended, metered, admitted: admitted.promise })?.ended.resolve(NO_REPORT);
    try {
      const refused = await Promise.race([admitted.promise.then(() => null), metered]);
      if (refused?.kind === "refused") throw new BudgetExceededError(refused.report);
      if (refused?.kind === "failed") throw refused.error;
    } catch (error) {
      this.calls.delete(id);
      throw toldError(error);
    }
  }

  private async start(
    parent: string | undefined,
    told: ToldStart,
    ended: Deferred<AnswerReport>,
    admitted: (hold: Hold | null) => void,
  ): Promise<Metered<null>> {
    const isWired = this.settings.wire() !== "none";
    const { meter } = this.settings;
    const about = { isCut: isWired, deployments: meter.deployments, allow: meter.allowedAt(null) };
    const read = readChainCall(told, about);
    if ("code" in read) throw new BudgetExceededError(read);
    const purse = await inRound(purseFor(this.settings), this.depthOf(parent));
    return this.call(purse, { named: read.named, read: this.priced(read, isWired) }, ended, admitted);
  }

  /**
   * Callbacks only watch: they cannot send a call to another model. Where that is left open the wire below chooses, and until it
   * does, as much is held as the floor needs.
   */
  private priced(read: ChainCall, isWired: boolean): ChainCall {
    const { wire } = read;
    if (listNamed(wire.model) === null) return read;
    if (!isWired) throw new BudgetExceededError(NO_WIRE);
    const list = this.settings.meter.listFor(wire.model);
    const floor = list?.tiers[list.floor];
    return floor === undefined ? read : { ...read, wire: { ...wire, model: floor.model } };
  }

  /** The call lasts until LangChain tells its end. What is held for it waits for whoever meters its request, if somebody does. */
  private call(
    purse: Purse,
    { named, read }: { readonly named: string; readonly read: ChainCall },
    { promise: ended }: Deferred<AnswerReport>,
    admitted: (hold: Hold | null) => void,
  ): Promise<Metered<null>> {
    const { store, budget, round = null } = purse;
    const wire = this.settings.wire();
    // What nobody takes must not be left: another call's request could take it, and this one would be paid for by nobody.
    const leaver = wire === "none" ? undefined : wire === "any" ? null : wire.leaver;
    const meeting = { store, budget, model: named, leaver: leaver ?? null };
    return callRead(this.settings.meter, purse, read, "unseen", async () => {
      const { hold = null } = currentPurse() ?? {};
      const left = hold === null || leaver === undefined ? null : leaveHold(meeting, { hold, round });
      admitted(hold);
      try {
        return { value: null, ...(await ended) };
      } finally {
        left?.[Symbol.dispose]();
      }
    });
  }

  private taken(id: string): OpenCall | undefined {
    const call = this.calls.get(id);
    this.calls.delete(id);
    return call;
  }

  private enter(id: string, parent: string | undefined, isTool: boolean): void {
    keep(this.around, id, { parent, isTool });
  }

  /** How many tools stand around: an agent inside of another one's tool is one level deeper. */
  private depthOf(parent: string | undefined): number {
    let depth = currentDepth();
    const seen = new Set<string>();
    for (let id = parent; id !== undefined && !seen.has(id); id = this.around.get(id)?.parent) {
      seen.add(id);
      if (this.around.get(id)?.isTool) depth++;
    }
    return depth;
  }
}

const NO_WIRE: RefusalReport = {
  code: "invalid_request",
  message: "only the wire can choose a model, and this one is not given it",
  hint: "spread openai or anthropic of the budget into the model, not only its callbacks",
};

/** Keeps no more than a bound, and gives back what had to go for it. */
function keep<Value>(kept: Map<string, Value>, id: string, value: Value): Value | undefined {
  kept.set(id, value);
  if (kept.size <= MOST_OPEN) return undefined;
  const [[oldest, gone] = [id, value]] = kept;
  kept.delete(oldest);
  return gone;
}
