import { estimateTokens } from "../core/usage.js";
import type { Reservation } from "./budget-node.js";
import type { Evaluation } from "./evaluation.js";
import type { PromptMessage } from "./message.js";
import { outcomeOf, type Settled } from "./outcome.js";
import {
  ProviderError,
  type ProviderRequest,
  type ProviderResponse,
  type Quote,
  type UsageReport,
} from "./provider.js";
import { type CheckedResponse, readResponse, readUsage } from "./provider-response.js";
import { askFor, quoteFor } from "./quote.js";
import type { CheckedPrompt } from "./rendered-prompt.js";
import type { TokenUsage } from "./tokens.js";
import type { ToolDefinition } from "./tool.js";

/** One request to the provider: quote, reserve, make it, settle. It is charged however it ends. */
export async function request(evaluation: Evaluation, messages: readonly PromptMessage[]): Promise<CheckedResponse> {
  if (evaluation.signal.aborted) throw evaluation.interruption("request");
  const draft = drafted(evaluation, messages);
  const reservation = await reserve(evaluation, draft, await quoteFor(evaluation, draft));
  announce(evaluation, reservation);
  const { provider } = evaluation.settings;
  const bounded = draft.maxOutputTokens !== null;
  const sent = { ...draft, maxOutputTokens: bounded ? reservation.asked.output : null };
  const outcome = await outcomeOf(() => provider.complete(sent), evaluation.signal);
  if (outcome.kind === "abandoned") {
    const charged = charge(evaluation, reservation, null);
    void outcome.settled.then((late) => correct(evaluation, charged, late));
    throw evaluation.interruption("request");
  }
  const problem = settle(evaluation, reservation, outcome);
  if (outcome.kind === "failed") {
    if (evaluation.signal.aborted) throw evaluation.interruption("request", outcome.error);
    throw evaluation.failure("request", "failed: its provider threw", outcome.error);
  }
  try {
    if (problem !== null) throw problem;
    return readResponse(outcome.value);
  } catch (error) {
    throw evaluation.failure("request", "got a response that cannot be used", error);
  }
}

function drafted(evaluation: Evaluation, messages: readonly PromptMessage[]): ProviderRequest {
  const { prompt, key, signal } = evaluation;
  return {
    promptName: prompt.name,
    evaluation: key,
    messages: [...messages],
    tools: definitions(prompt),
    maxOutputTokens: evaluation.remainingTokens()?.output ?? null,
    signal,
  };
}

/** What the model may know of the tools: not their handlers. */
function definitions({ tools }: CheckedPrompt): readonly ToolDefinition[] {
  return [...tools.values()].map(({ name, description, inputSchema }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
  }));
}

async function reserve(evaluation: Evaluation, draft: ProviderRequest, quote: Quote | null): Promise<Reservation> {
  evaluation.now();
  const admission = await evaluation.node.reserve(askFor(quote, draft), evaluation.signal);
  if (admission.kind === "stopped") throw evaluation.exceeded(admission.finding);
  if (admission.kind === "aborted") throw evaluation.interruption("request");
  return admission.reservation;
}

/** The last moment at which a request can be left undone, and then costs nothing. */
function announce(evaluation: Evaluation, reservation: Reservation): void {
  try {
    if (evaluation.signal.aborted) throw evaluation.interruption("request");
    evaluation.announce("request");
  } catch (error) {
    evaluation.node.release(reservation);
    throw error;
  }
}

/** Charges what the provider reported, or else the reservation; returns what was wrong with the report, if anything. */
function settle(evaluation: Evaluation, reservation: Reservation, outcome: Settled<ProviderResponse>): Error | null {
  let used: TokenUsage | null = null;
  let estimated = true;
  let problem: Error | null = null;
  try {
    used = reported(evaluation, outcome);
    estimated = isEstimate(outcome);
  } catch (error) {
    problem = error as Error;
  }
  if (used === null) charge(evaluation, reservation, outcome.kind === "done" ? outcome.value : null);
  else commit(evaluation, reservation, used, estimated);
  return problem;
}

function reported(evaluation: Evaluation, outcome: Settled<ProviderResponse>): TokenUsage | null {
  if (outcome.kind === "done") return readUsage(outcome.value, evaluation.counter);
  return outcome.error instanceof ProviderError ? readUsage(outcome.error, evaluation.counter) : null;
}

function isEstimate(outcome: Settled<ProviderResponse>): boolean {
  const report: unknown = outcome.kind === "done" ? outcome.value : outcome.error;
  return (report as UsageReport | null)?.estimated === true;
}

/** Charges the reservation. Output that nobody could bound before is bounded by the bytes that came. */
function charge(evaluation: Evaluation, reservation: Reservation, reply: ProviderResponse | null): TokenUsage {
  const { input, output } = reservation.asked;
  const charged = { input, output: output > 0 ? output : bytesIn(reply) };
  commit(evaluation, reservation, charged, true);
  return charged;
}

/** What cannot even be looked at must not stop the settlement: others wait for what is held. */
function bytesIn(reply: ProviderResponse | null): number {
  try {
    const came = { text: reply?.text, toolCalls: reply?.toolCalls };
    return estimateTokens("", reply === null ? "" : came).llm_output_tokens ?? 0;
  } catch {
    return 0;
  }
}

function commit(evaluation: Evaluation, reservation: Reservation, used: TokenUsage, estimated: boolean): void {
  evaluation.now();
  evaluation.node.commit(reservation, used, estimated);
  evaluation.tally.add(used, estimated);
}

/** A report that comes when nobody waits any more still puts the usage right. */
function correct(evaluation: Evaluation, charged: TokenUsage, late: Settled<ProviderResponse>): void {
  try {
    const used = reported(evaluation, late);
    if (used !== null) evaluation.node.correct(charged, used);
  } catch {
    // A late report that cannot be read leaves the charge as it is; the error was raised when the wait ended.
  }
}
