import { isCount } from "../../core/chain/rules.js";
import { currentPurse } from "../../runtime/purse.js";
import { SettlementError } from "../../runtime/settlement-error.js";
import { BudgetExceededError } from "../meter/budget-exceeded-error.js";
import { HandedOut } from "../meter/handed-out.js";
import type { Meter, Metered, MeteredRequest } from "../meter/meter.js";
import { toldError } from "../meter/told-error.js";
import { keepItem } from "../wire/kept-items.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import { GovernedCalls, type Governing } from "./governed-calls.js";
import { nameOfThought } from "./item-name.js";
import { reportedUsage } from "./reported-usage.js";
import { sdkClaims } from "./sdk-claims.js";
import type {
  SdkCallOptions,
  SdkEmbedded,
  SdkEmbeddingModel,
  SdkEmbedOptions,
  SdkGenerated,
  SdkLanguageModel,
  SdkStreamed,
} from "./sdk-model.js";
import { type CallSketch, type Sketch, sketchCall, sketchEmbedding } from "./sketch.js";
import { StreamedParts } from "./streamed-parts.js";

/** A model with the sketch of a call to it. */
export interface Speaking {
  readonly model: SdkLanguageModel;
  readonly sketch: CallSketch;
}

/** A call that was drawn; `by` gives whoever it is made to in the end. */
interface Drawn {
  readonly sketch: Sketch;
  by(request: MeteredRequest): Speaking;
}

/** Who is asked: one model, or one of several. */
export interface Speakers {
  /** The one that is asked where nobody meters here. */
  readonly first: SdkLanguageModel;
  draw(options: SdkCallOptions, stream: boolean): Drawn;
}

/** One model, which is asked whatever comes. */
export function oneSpeaker(model: SdkLanguageModel, { meter, output_tokens }: Governing): Speakers {
  const { deployments } = meter;
  const allowedAt = (url: string | null) => meter.allowedAt(url);
  return {
    first: model,
    draw: (options, stream) => {
      const sketch = sketchCall(model, options, { stream, output_tokens, deployments, allowedAt });
      return { sketch, by: () => ({ model, sketch }) };
    },
  };
}

/** A model that writes, in a budget. */
export class GovernedLanguage {
  private readonly speakers: Speakers;
  private readonly calls: GovernedCalls;

  constructor(speakers: Speakers, how: Governing) {
    this.speakers = speakers;
    this.calls = new GovernedCalls(how);
  }

  async doGenerate(options: SdkCallOptions): Promise<SdkGenerated> {
    if (isMetered()) return this.speakers.first.doGenerate(options);
    const drawn = bounded(() => this.speakers.draw(options, false));
    const metered = this.calls.make(drawn.sketch, options, async (held, request) => {
      const { model, sketch } = drawn.by(request);
      const answer = await model.doGenerate({ ...sketch.held(held.body), abortSignal: held.signal });
      const counts = reportedUsage(answer, sketch.wire);
      const names = (answer.content ?? []).flatMap((part) => nameOfThought(part) ?? []);
      for (const name of names) keepItem(name, counts?.output ?? held.output_tokens);
      return { value: answer, counts, claims: sdkClaims(answer) };
    });
    return given(await metered.catch(salvaged<SdkGenerated>));
  }

  async doStream(options: SdkCallOptions): Promise<SdkStreamed> {
    if (isMetered()) return this.speakers.first.doStream(options);
    const drawn = bounded(() => this.speakers.draw(options, true));
    const out = new HandedOut<SdkStreamed>();
    const { promise } = out;
    this.stream(drawn, options, out);
    return promise;
  }

  private stream(drawn: Drawn, options: SdkCallOptions, out: HandedOut<SdkStreamed>): void {
    let streaming: StreamedParts | null = null;
    const metered = this.calls.make<null>(drawn.sketch, options, async (held, request) => {
      const { model, sketch } = drawn.by(request);
      const answer = await model.doStream({ ...sketch.held(held.body), abortSignal: held.signal });
      streaming = new StreamedParts(answer, sketch.wire, held, model.specificationVersion);
      handOut(answer, streaming, out);
      return { value: null, counts: await streaming.read() };
    });
    const ended = metered.catch(salvaged<null>).then((outcome) => {
      // A stream has been handed out already: it hears how the call ended.
      streaming?.end(outcome.kind === "failed" ? toldError(outcome.error) : null);
      given(outcome);
    });
    ended.catch((error: unknown) => {
      // Who reads the stream is told by it; who waits for it to begin, by himself.
      streaming?.end(error);
      out.fail(error);
    });
  }
}

/** A model that makes vectors of texts, in a budget. */
export class GovernedEmbeddings {
  private readonly model: SdkEmbeddingModel;
  private readonly calls: GovernedCalls;
  private readonly meter: Meter;

  constructor(model: SdkEmbeddingModel, how: Governing) {
    this.model = model;
    this.meter = how.meter;
    this.calls = new GovernedCalls(how);
  }

  async doEmbed(options: SdkEmbedOptions): Promise<SdkEmbedded> {
    if (isMetered()) return this.model.doEmbed(options);
    const { deployments } = this.meter;
    const about = { deployments, allowedAt: (url: string | null) => this.meter.allowedAt(url) };
    const sketch = bounded(() => sketchEmbedding(this.model, options, about));
    const metered = this.calls.make(sketch, options, async (held) => {
      const answer = await this.model.doEmbed({ ...options, abortSignal: held.signal });
      const tokens = answer.usage?.tokens;
      const counts = isCount(tokens) && tokens > 0 ? { input: tokens, output: 0 } : null;
      return { value: answer, counts, claims: sdkClaims(answer) };
    });
    return given(await metered.catch(salvaged<SdkEmbedded>));
  }
}

/** By itself, because a function that waits would hold on to the stream it has made. */
function handOut(answer: SdkStreamed, streaming: StreamedParts, out: HandedOut<SdkStreamed>): void {
  out.give({ ...answer, stream: streaming.openStream() });
}

/** Whether somebody further out meters the call that is being made. */
function isMetered(): boolean {
  return currentPurse()?.metered === true;
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
