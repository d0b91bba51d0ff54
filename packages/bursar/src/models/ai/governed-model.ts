import { isCount } from "../../core/chain/rules.js";
import { deferred } from "../../runtime/deferred.js";
import { currentPurse, type Purse } from "../../runtime/purse.js";
import { SettlementError } from "../../runtime/settlement-error.js";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import type { Held, Meter, Metered } from "../meter/meter.js";
import { callRead, type ModelAnswered } from "../meter/model-call.js";
import { type PaidBy, purseFor } from "../meter/paid-by.js";
import { inRound } from "../meter/round.js";
import { toldError } from "../meter/told-error.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import { keepThoughts, nameOfThought } from "./kept-thoughts.js";
import { reportedUsage } from "./reported-usage.js";
import type {
  SdkCallOptions,
  SdkEmbedded,
  SdkEmbeddingModel,
  SdkEmbedOptions,
  SdkGenerated,
  SdkLanguageModel,
  SdkStreamed,
} from "./sdk-model.js";
import { type Sketch, sketchCall, sketchEmbedding } from "./sketch.js";
import { StreamedParts } from "./streamed-parts.js";

/** How the calls of a model are governed. */
export interface Governing {
  readonly meter: Meter;
  readonly paid: PaidBy;
  /** The most an answer may have where nobody says so, beside what is thought. */
  readonly output_tokens: number;
  readonly wait_ms?: number;
}

/** A model that writes, in a budget. */
export class GovernedLanguage {
  private readonly model: SdkLanguageModel;
  private readonly how: Governing;

  constructor(model: SdkLanguageModel, how: Governing) {
    this.model = model;
    this.how = how;
  }

  async doGenerate(options: SdkCallOptions): Promise<SdkGenerated> {
    if (isMetered()) return this.model.doGenerate(options);
    const sketch = this.sketch(options, false);
    const metered = call(this.how, sketch, options, async (held) => {
      const answer = await this.model.doGenerate({ ...sketch.held(held.body), abortSignal: held.signal });
      const counts = reportedUsage(answer, sketch.wire);
      const names = (answer.content ?? []).flatMap((part) => nameOfThought(part) ?? []);
      keepThoughts(names, counts?.output ?? held.output_tokens);
      return { value: answer, counts };
    });
    return given(await metered.catch(salvaged<SdkGenerated>));
  }

  async doStream(options: SdkCallOptions): Promise<SdkStreamed> {
    if (isMetered()) return this.model.doStream(options);
    const sketch = this.sketch(options, true);
    const begun = deferred<SdkStreamed>();
    let streaming: StreamedParts | null = null;
    const metered = call<null>(this.how, sketch, options, async (held) => {
      const answer = await this.model.doStream({ ...sketch.held(held.body), abortSignal: held.signal });
      streaming = new StreamedParts(answer.stream, sketch.wire, held, this.model.specificationVersion);
      begun.resolve({ ...answer, stream: streaming.stream });
      return { value: null, counts: await streaming.read() };
    });
    const ended = metered.catch(salvaged<null>).then((outcome) => {
      // A stream has been handed out already: it hears how the call ended.
      streaming?.end(outcome.kind === "failed" ? toldError(outcome.error) : null);
      given(outcome);
      return begun.promise;
    });
    // Who reads the stream is told by it; who waits for it to begin, by this.
    ended.catch((error: unknown) => streaming?.end(error));
    return Promise.race([begun.promise, ended]);
  }

  private sketch(options: SdkCallOptions, stream: boolean) {
    const { output_tokens } = this.how;
    return bounded(() => sketchCall(this.model, options, { stream, output_tokens }));
  }
}

/** A model that makes vectors of texts, in a budget. */
export class GovernedEmbeddings {
  private readonly model: SdkEmbeddingModel;
  private readonly how: Governing;

  constructor(model: SdkEmbeddingModel, how: Governing) {
    this.model = model;
    this.how = how;
  }

  async doEmbed(options: SdkEmbedOptions): Promise<SdkEmbedded> {
    if (isMetered()) return this.model.doEmbed(options);
    const sketch = bounded(() => sketchEmbedding(this.model, options));
    const metered = call(this.how, sketch, options, async (held) => {
      const answer = await this.model.doEmbed({ ...options, abortSignal: held.signal });
      const tokens = answer.usage?.tokens;
      return { value: answer, counts: isCount(tokens) && tokens > 0 ? { input: tokens, output: 0 } : null };
    });
    return given(await metered.catch(salvaged<SdkEmbedded>));
  }
}

/** Whether somebody further out meters the call that is being made. */
function isMetered(): boolean {
  return currentPurse()?.metered === true;
}

async function call<Value>(
  { meter, paid, wait_ms }: Governing,
  { protocol, wire, url }: Sketch,
  { abortSignal: signal, prompt }: Pick<SdkEmbedOptions, "abortSignal"> & { readonly prompt?: object },
  effect: (held: Held) => Promise<ModelAnswered<Value>>,
): Promise<Metered<Value>> {
  const how = { ...(signal !== undefined && { signal }), ...(wait_ms !== undefined && { wait_ms }) };
  const purse = purseFor(paid);
  return callRead(
    meter,
    prompt === undefined ? purse : await roundOf(purse, prompt),
    { protocol, wire, url, ...how },
    effect,
  );
}

const rounds = new WeakMap<object, NonNullable<Purse["round"]>>();

/** A step of a loop is a round. When the SDK tries it again, it does so with the very same prompt, and the round is the same too. */
async function roundOf(purse: Purse, prompt: object): Promise<Purse> {
  // Whoever makes this call further out has said so already.
  if (purse.hold !== undefined) return purse;
  const known = rounds.get(prompt);
  if (known !== undefined) return { ...purse, round: known };
  const inside = await inRound(purse);
  if (inside.round !== undefined) rounds.set(prompt, inside.round);
  return inside;
}

/** What nobody can bound beforehand is refused like what does not fit. */
function bounded<Value>(sketch: () => Value): Value {
  try {
    return sketch();
  } catch (error) {
    if (!(error instanceof UnboundedError)) throw error;
    const { message } = error;
    const hint = "a call that nobody can bound beforehand is not made";
    throw new BudgetExceededError({ code: "unbounded", message, hint }, { cause: error });
  }
}

/** How a call ended. */
type Ended<Value> = Metered<Value> | { readonly kind: "done"; readonly value: Value };

function given<Value>(ended: Ended<Value>): Value {
  if (ended.kind === "refused") throw new BudgetExceededError(ended.report);
  if (ended.kind === "failed") throw toldError(ended.error);
  return ended.value;
}

/** An answer whose cost could not be recorded is an answer all the same; the reservation stays behind it. */
function salvaged<Value>(error: unknown): Ended<Value> {
  const came = error instanceof SettlementError ? error.value : undefined;
  if (typeof came !== "object" || came === null) throw toldError(error);
  if ("value" in came) return { kind: "done", value: came.value as Value };
  throw toldError("error" in came ? came.error : error);
}
