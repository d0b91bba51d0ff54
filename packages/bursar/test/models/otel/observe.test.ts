import { Agent, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents";
import { context, createNoopMeter, DiagLogLevel, diag, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { govern } from "../../../src/models/openai-agents/govern.js";
import { observe, observePrompts } from "../../../src/models/otel/observe.js";
import { createAdapter } from "../../../src/prompt/adapter.js";
import { Budget } from "../../../src/prompt/budget.js";
import { Deadline } from "../../../src/prompt/deadline.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { openScriptedModel, type Script } from "../../../src/testing/scripted-model.js";
import { calls, says, scripted } from "../../prompt/scripted.js";

const PRICES = { scripted: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };
const messages = [{ role: "user" as const, content: "A secret question" }];

setTracingDisabled(true);
beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
afterAll(() => context.disable());

function watching() {
  const spans = new InMemorySpanExporter();
  const figures = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const reader = new PeriodicExportingMetricReader({ exporter: figures, exportIntervalMillis: 1_000_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const points = async (name: string) => {
    await reader.forceFlush();
    const all =
      figures
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? [];
    return all.filter(({ descriptor }) => descriptor.name === name).flatMap(({ dataPoints }) => [...dataPoints]);
  };
  return { spans, tracerProvider, meterProvider, points };
}

async function scene(script: Script) {
  const model = await openScriptedModel({ script });
  const client = new OpenAI({
    baseURL: model.url,
    apiKey: "k",
    maxRetries: 0,
    fetch: governedFetch({ prices: PRICES }),
  });
  return { model, client, [Symbol.asyncDispose]: () => model[Symbol.asyncDispose]() };
}

const SAYS = {
  kind: "text",
  text: "Hi.",
  usage: { prompt_tokens: 100, completion_tokens: 20, cached_tokens: 40, reasoning_tokens: 5 },
} as const;

test("a provider that throws changes nothing for those that are looked at, and it is told", async () => {
  await using at = await scene([SAYS]);
  const told: unknown[] = [];
  const silent = { warn() {}, info() {}, debug() {}, verbose() {} };
  diag.setLogger({ ...silent, error: (message) => told.push(message) }, DiagLogLevel.ERROR);
  const broken = (): never => {
    throw new Error("the collector is full");
  };
  const tracerProvider = { getTracer: () => ({ startSpan: broken, startActiveSpan: broken }) };
  const meterProvider = new MeterProvider();
  meterProvider.getMeter = () =>
    Object.assign(Object.create(createNoopMeter()), { createGauge: () => ({ record: broken }) });
  using _ = observe({ tracerProvider, meterProvider });

  await withBudget({ steps: 3 }, () => at.client.chat.completions.create({ model: "scripted", messages }));
  const adapter = createAdapter(scripted([says("hello", 1, 1)]), { onCall: observePrompts({ meterProvider }) });
  const budget = new Budget({ tokenLimit: { input: 100, output: 100 } });
  expect(await adapter.evaluate({ name: "greeting", text: "Hi." }, { budget })).toMatchObject({ text: "hello" });
  // What a channel's listener throws ends the process, a turn later.
  await new Promise(setImmediate);
  diag.disable();
  expect(told).toHaveLength(2);
});

test("a call is a span with the conventional names, below the one that was active, and with its budget", async () => {
  await using at = await scene([SAYS]);
  const { spans, points, ...providers } = watching();
  using _ = observe(providers);
  const around = providers.tracerProvider.getTracer("test").startSpan("around");

  await withBudget({ cost_usd: 1, llm_tokens: 10_000, wall_clock_ms: 60_000 }, (budget) =>
    context.with(trace.setSpan(context.active(), around), async () => {
      await at.client.chat.completions.create({ model: "scripted", messages });
      const [span] = spans.getFinishedSpans();
      expect(span).toMatchObject({ name: "chat scripted", status: { code: SpanStatusCode.UNSET } });
      expect(span?.parentSpanContext?.spanId).toBe(around.spanContext().spanId);
      expect(span?.attributes).toMatchObject({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "scripted",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "server.address": "127.0.0.1",
        "bursar.budget.id": budget.id,
        "bursar.charged.cost_usd": 0.0003,
        "bursar.charged.steps": 1,
        "bursar.estimated": false,
        "bursar.remaining.llm_tokens": 9880,
      });
    }),
  );

  const tokens = await points("gen_ai.client.token.usage");
  expect(
    tokens.map(({ attributes, value }) => [attributes["gen_ai.token.type"], (value as { sum: number }).sum]),
  ).toEqual([
    ["input", 100],
    ["output", 20],
  ]);
  expect(await points("gen_ai.client.operation.duration")).toHaveLength(1);
  expect(await points("bursar.cost_usd")).toMatchObject([{ value: 0.0003 }]);
  expect(await points("budget_remaining_tokens")).toMatchObject([{ value: 9880 }]);
  expect(await points("budget_remaining_time")).toHaveLength(1);
});

test("a refusal is a span with an error, and is counted; nothing of what was asked is in it", async () => {
  await using at = await scene([SAYS]);
  const { spans, points, ...providers } = watching();
  using _ = observe(providers);

  await withBudget({ llm_input_tokens: 10 }, async () => {
    await expect(at.client.chat.completions.create({ model: "scripted", messages })).rejects.toThrow();
  });

  const [span] = spans.getFinishedSpans();
  expect(span?.status).toMatchObject({ code: SpanStatusCode.ERROR });
  expect(span?.attributes).toMatchObject({
    "error.type": "budget_exceeded",
    "bursar.refusal.code": "budget_exceeded",
    "bursar.refusal.dimension": "llm_input_tokens",
  });
  expect(JSON.stringify([span?.attributes, span?.status])).not.toContain("secret");
  expect(await points("bursar.refusals")).toMatchObject([
    { value: 1, attributes: { "bursar.refusal.dimension": "llm_input_tokens" } },
  ]);
  expect(await points("gen_ai.client.operation.duration")).toEqual([]);
});

test("a stream that breaks off is a span with an error and an estimated charge", async () => {
  await using at = await scene([{ kind: "half", text: "one two three four", events: 2 }]);
  const { spans, points, ...providers } = watching();
  using _ = observe(providers);
  await withBudget({ cost_usd: 1 }, async () => {
    const stream = await at.client.chat.completions.create({
      model: "scripted",
      messages,
      stream: true,
      max_tokens: 50,
    });
    const reading = (async () => {
      for await (const _ of stream);
    })();
    await expect(reading).rejects.toThrow();
  });
  const [span] = spans.getFinishedSpans();
  expect(span?.status.code).toBe(SpanStatusCode.ERROR);
  expect(span?.attributes).toMatchObject({ "bursar.estimated": true, "bursar.stream": true });
  const [point] = await points("gen_ai.client.operation.duration");
  expect(point?.attributes["error.type"]).toBe(span?.attributes["error.type"]);
  expect(await points("gen_ai.client.token.usage")).toEqual([]);
});

test("a call that two adapters see is told of once, and nothing more after it was disposed", async () => {
  await using at = await scene(() => SAYS);
  const openAIClient = at.client as unknown as NonNullable<
    ConstructorParameters<typeof OpenAIProvider>[0]
  >["openAIClient"];
  const modelProvider = govern(new OpenAIProvider({ ...(openAIClient && { openAIClient }) }), { prices: PRICES });
  const runner = new Runner({ modelProvider });
  const agent = new Agent({ name: "Teller", model: "scripted" });
  const { spans, points, ...providers } = watching();
  const observing = observe(providers);

  await withBudget({ cost_usd: 1 }, async () => {
    await runner.run(agent, "Hi");
    expect(spans.getFinishedSpans()).toHaveLength(1);
    expect(spans.getFinishedSpans()[0]?.attributes).toMatchObject({ "gen_ai.usage.input_tokens": 100 });
    observing[Symbol.dispose]();
    await runner.run(agent, "Hi");
  });

  expect(spans.getFinishedSpans()).toHaveLength(1);
  expect(await points("gen_ai.client.operation.duration")).toMatchObject([{ value: { count: 1 } }]);
});

test("an evaluation of a prompt has the same gauges", async () => {
  const { points, meterProvider } = watching();
  const clock = new FakeClock({ instant: 0 });
  const budget = new Budget({ deadline: new Deadline(10_000), tokenLimit: { input: 100, output: null } }, { clock });
  const provider = scripted([calls("wait", 30, 10), says("done", 40, 10)]);
  const adapter = createAdapter(provider, { timer: clock, onCall: observePrompts({ meterProvider }) });
  const tools = [{ name: "wait", handler: () => clock.advance(1_500) }];

  await adapter.evaluate({ name: "greeting", text: "Say hello.", tools }, { budget });

  const request = { "bursar.prompt": "greeting", "bursar.phase": "request" };
  const tool = { "bursar.prompt": "greeting", "bursar.phase": "tool", "bursar.tool": "wait" };
  expect(await points("budget_remaining_time")).toMatchObject([
    { value: 8_500, attributes: request },
    { value: 10_000, attributes: tool },
  ]);
  expect(await points("budget_remaining_tokens")).toMatchObject([
    { value: 70, attributes: { ...request, "gen_ai.token.type": "input" } },
    { value: 70, attributes: { ...tool, "gen_ai.token.type": "input" } },
  ]);
});
