import { setImmediate } from "node:timers/promises";
import { BudgetExceededError, PromptEvaluationError } from "../../src/prompt/errors.js";
import type { ToolCall } from "../../src/prompt/message.js";
import type { Provider, ProviderRequest, ProviderResponse } from "../../src/prompt/provider.js";
import type { TokenUsage } from "../../src/prompt/tokens.js";

export type Reply =
  | ProviderResponse
  | Error
  | ((request: ProviderRequest) => ProviderResponse | Promise<ProviderResponse>);

export interface Scripted extends Provider {
  /** The requests it got, in order. */
  readonly requests: readonly ProviderRequest[];
}

/** A provider that answers with these replies, in order, and fails when asked for more. */
export function scripted(replies: readonly Reply[], quote?: TokenUsage | Provider["quote"]): Scripted {
  const requests: ProviderRequest[] = [];
  return {
    requests,
    async complete(request) {
      const reply = replies[requests.push(request) - 1];
      if (reply === undefined) throw new Error("the script is over");
      if (reply instanceof Error) throw reply;
      return typeof reply === "function" ? reply(request) : reply;
    },
    ...(quote === undefined ? {} : { quote: typeof quote === "function" ? quote : () => quote }),
  };
}

/** A final response. */
export function says(text: string, input: number, output: number): ProviderResponse {
  return { text, usage: { input, output } };
}

/** A response that calls tools, each by its name. */
export function calls(names: string | readonly string[], input: number, output: number): ProviderResponse {
  const toolCalls = [names].flat().map((name, index): ToolCall => ({ id: `call-${index}`, name, input: {} }));
  return { text: "", toolCalls, usage: { input, output } };
}

/** Lets everything run that does not wait for the clock. */
export async function turn(): Promise<void> {
  for (let times = 0; times < 3; times++) await setImmediate();
}

/** The error an evaluation ends with. */
export async function failureOf(evaluation: Promise<unknown>): Promise<PromptEvaluationError> {
  const error = await evaluation.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PromptEvaluationError))
    throw new Error(`not a PromptEvaluationError: ${error}`, { cause: error });
  return error;
}

/** The overage an evaluation ends with. */
export async function overageOf(evaluation: Promise<unknown>): Promise<BudgetExceededError> {
  const error = await failureOf(evaluation);
  if (!(error instanceof BudgetExceededError)) throw new Error(`not a BudgetExceededError: ${error}`, { cause: error });
  return error;
}

/** A promise that somebody else settles. */
export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
