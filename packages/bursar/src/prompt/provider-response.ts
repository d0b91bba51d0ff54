import { InputError, show } from "../core/errors.js";
import type { Counter } from "./counter.js";
import type { Ending, ToolCall } from "./message.js";
import type { UsageReport } from "./provider.js";
import { readTokenUsage, type TokenUsage } from "./tokens.js";

/** A response whose parts have been checked: providers send garbage at times. */
export interface CheckedResponse {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly ending: Ending;
}

const ENDINGS: readonly unknown[] = ["whole", "length", "filtered"] satisfies readonly Ending[];

export function readResponse(response: unknown): CheckedResponse {
  if (typeof response !== "object" || response === null) {
    throw new InputError("response", `is ${show(response)}; allowed: an object with text`);
  }
  const { text, toolCalls = [], ending = "whole" } = response as Partial<Record<keyof CheckedResponse, unknown>>;
  if (typeof text !== "string") throw new InputError("response.text", `is ${show(text)}; allowed: a string`);
  if (!Array.isArray(toolCalls)) throw new InputError("response.toolCalls", `is ${show(toolCalls)}; allowed: an array`);
  if (!ENDINGS.includes(ending)) {
    throw new InputError("response.ending", `is ${show(ending)}; allowed: ${ENDINGS.join(", ")}`);
  }
  return { text, toolCalls: toolCalls.map(readToolCall), ending: ending as Ending };
}

/** What a report says was used, or null when it says nothing. */
export function readUsage(report: unknown, counter: Counter): TokenUsage | null {
  const { usage = null, cumulativeUsage = null } = (report ?? {}) as UsageReport;
  const total = cumulativeUsage === null ? null : readTokenUsage(cumulativeUsage, "response.cumulativeUsage");
  const counted = total === null ? null : counter.advance(total);
  return usage === null ? counted : readTokenUsage(usage, "response.usage");
}

function readToolCall(call: unknown, index: number): ToolCall {
  const { id, name, input } = (call ?? {}) as Partial<ToolCall>;
  const field = `response.toolCalls[${index}]`;
  if (typeof id !== "string") throw new InputError(`${field}.id`, `is ${show(id)}; allowed: a string`);
  if (typeof name !== "string") throw new InputError(`${field}.name`, `is ${show(name)}; allowed: a string`);
  return { id, name, input };
}
