import type { Attributes, Counter, Gauge, Histogram, MeterProvider } from "@opentelemetry/api";
import type { CallEnded } from "../meter/call-record.js";
import { commonAttributes, errorType } from "./attributes.js";
import type { PromptCall } from "./prompt-call.js";

/** The bounds that the conventions ask for. */
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/** The metrics: what calls used, how long they took, what was refused, and what budgets have left. */
export class Instruments {
  private readonly tokens: Histogram;
  private readonly duration: Histogram;
  private readonly cost: Counter;
  private readonly refusals: Counter;
  private readonly time: Gauge;
  private readonly left: Gauge;

  constructor(provider: MeterProvider) {
    const meter = provider.getMeter("bursar");
    this.tokens = meter.createHistogram("gen_ai.client.token.usage", {
      description: "Number of input and output tokens used",
      unit: "{token}",
      advice: { explicitBucketBoundaries: TOKENS },
    });
    this.duration = meter.createHistogram("gen_ai.client.operation.duration", {
      description: "How long a call to a model took",
      unit: "s",
      advice: { explicitBucketBoundaries: SECONDS },
    });
    this.cost = meter.createCounter("bursar.cost_usd", { description: "What was charged", unit: "USD" });
    this.refusals = meter.createCounter("bursar.refusals", { description: "Calls that were not made", unit: "{call}" });
    const time = { description: "Time that a budget has left", unit: "ms" };
    this.time = meter.createGauge("budget_remaining_time", time);
    this.left = meter.createGauge("budget_remaining_tokens", { description: "Tokens left", unit: "{token}" });
  }

  record(call: CallEnded): void {
    const common = commonAttributes(call);
    const { budget, refusal, remaining, charged, counts } = call;
    const mine: Attributes = { "bursar.budget.id": budget };
    if (remaining.wall_clock_ms !== undefined) this.time.record(remaining.wall_clock_ms, mine);
    this.recordTokens(mine, {
      total: remaining.llm_tokens ?? null,
      input: remaining.llm_input_tokens ?? null,
      output: remaining.llm_output_tokens ?? null,
    });
    if (refusal !== null) {
      const { code, dimension } = refusal;
      this.refusals.add(1, {
        ...common,
        "bursar.refusal.code": code,
        ...(dimension !== undefined && { "bursar.refusal.dimension": dimension }),
      });
      return;
    }
    const error = errorType(call);
    this.duration.record(call.duration_ms / 1000, error === null ? common : { ...common, "error.type": error });
    if ((charged.cost_usd ?? 0) > 0) this.cost.add(charged.cost_usd ?? 0, common);
    if (counts === null) return;
    this.tokens.record(counts.input, { ...common, "gen_ai.token.type": "input" });
    if (counts.output > 0) this.tokens.record(counts.output, { ...common, "gen_ai.token.type": "output" });
  }

  /** The same gauges for the evaluation of a prompt, at every call to its provider and its tools. */
  recordPrompt({ phase, prompt, tool, budget_remaining_time, budget_remaining_tokens }: PromptCall): void {
    const mine: Attributes = {
      "bursar.prompt": prompt,
      "bursar.phase": phase,
      ...(tool !== undefined && { "bursar.tool": tool }),
    };
    if (budget_remaining_time !== null) this.time.record(budget_remaining_time, mine);
    if (budget_remaining_tokens !== null) this.recordTokens(mine, { total: null, ...budget_remaining_tokens });
  }

  private recordTokens(mine: Attributes, left: Readonly<Record<"total" | "input" | "output", number | null>>): void {
    for (const [type, amount] of Object.entries(left)) {
      if (amount !== null) this.left.record(amount, { ...mine, "gen_ai.token.type": type });
    }
  }
}
