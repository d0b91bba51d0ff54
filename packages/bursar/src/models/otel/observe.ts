import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  type Context,
  context,
  diag,
  type MeterProvider,
  metrics,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { checkKeys } from "../../core/fields.js";
import { CALLS, type CallEnded, type CallRecord } from "../meter/call-record.js";
import { callAttributes, commonAttributes, errorType, operationOf } from "./attributes.js";
import { Instruments } from "./instruments.js";
import type { PromptCall } from "./prompt-call.js";

export interface ObserveOptions {
  /** The one that is registered with OpenTelemetry's API, unless it is said. */
  readonly tracerProvider?: TracerProvider;
  readonly meterProvider?: MeterProvider;
}

/** Where and when a call began. */
interface Begun {
  readonly context: Context;
  readonly instant: number;
}

const KEYS = ["tracerProvider", "meterProvider"];
/** A call whose end nobody tells is forgotten when there are too many. */
const MOST_BEGUN = 10_000;

/**
 * Tells OpenTelemetry of every governed call: a span with the names of the GenAI conventions, and what it did to its budget under
 * `bursar.*`; metrics of tokens, durations, costs and refusals, and gauges of what budgets have left. A span belongs to the context
 * that was active when its call began. It goes on until what it gives back is disposed.
 *
 * @example
 * ```ts
 * using observing = observe();
 * await withBudget({ cost_usd: 0.5 }, () => agent(question));
 * ```
 */
export function observe(options: ObserveOptions = {}): Disposable {
  checkKeys(options, "options", KEYS);
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider() } = options;
  const tracer = tracerProvider.getTracer("bursar");
  const instruments = new Instruments(meterProvider);
  const begun = new Map<string, Begun>();
  const hear = harmless((message: unknown) => {
    const record = message as CallRecord;
    if (record.kind === "started") return begin(begun, record.id);
    const from = begun.get(record.id);
    begun.delete(record.id);
    // Whoever has metered it in its place tells of it himself.
    if (record.handed_down) return;
    tell(tracer, record, from ?? { context: context.active(), instant: Date.now() - record.duration_ms });
    instruments.record(record);
  });
  subscribe(CALLS, hear);
  return { [Symbol.dispose]: () => void unsubscribe(CALLS, hear) };
}

/**
 * Turns what an evaluation tells of its calls into the same gauges, `budget_remaining_time` and `budget_remaining_tokens`.
 *
 * @example
 * ```ts
 * const adapter = createAdapter(provider, { onCall: observePrompts() });
 * ```
 */
export function observePrompts(options: Pick<ObserveOptions, "meterProvider"> = {}): (call: PromptCall) => void {
  checkKeys(options, "options", ["meterProvider"]);
  const instruments = new Instruments(options.meterProvider ?? metrics.getMeterProvider());
  return harmless((call) => instruments.recordPrompt(call));
}

/** Whoever looks on must not change what happens: what a provider throws would end the process, or keep a prompt's call from being made. */
function harmless<Heard>(hear: (heard: Heard) => void): (heard: Heard) => void {
  return (heard) => {
    try {
      hear(heard);
    } catch (error) {
      diag.error("bursar: a call could not be told of", error);
    }
  };
}

function begin(begun: Map<string, Begun>, id: string): void {
  begun.set(id, { context: context.active(), instant: Date.now() });
  const [oldest] = begun.keys();
  if (begun.size > MOST_BEGUN && oldest !== undefined) begun.delete(oldest);
}

/** The span is made when all is known of it, so that one that was handed down leaves nothing behind. */
function tell(tracer: Tracer, record: CallEnded, begun: Begun): void {
  const { model, protocol, refusal } = record;
  const error = errorType(record);
  const attributes = { ...commonAttributes(record), ...callAttributes(record) };
  const span = tracer.startSpan(
    `${operationOf(protocol)} ${model}`,
    {
      kind: SpanKind.CLIENT,
      startTime: begun.instant,
      attributes: error === null ? attributes : { ...attributes, "error.type": error },
    },
    begun.context,
  );
  if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: refusal?.message ?? error });
  span.end(begun.instant + record.duration_ms);
}
