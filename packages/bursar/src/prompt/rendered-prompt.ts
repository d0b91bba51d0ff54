import { InputError, show } from "../core/errors.js";
import { nearest } from "../core/nearest.js";
import { Budget } from "./budget.js";
import type { PromptMessage } from "./message.js";
import type { Tool } from "./tool.js";

interface PromptParts {
  /** For errors and logs. Names need not be unique: usage is not counted by them. */
  readonly name: string;
  readonly tools?: readonly Tool[];
  /** What it runs under, unless `evaluate` is given another; it then supersedes this one. */
  readonly budget?: Budget | null;
}

/** A prompt ready to be evaluated: a text, or a conversation so far. */
export type RenderedPrompt = PromptParts &
  (
    | { readonly text: string; readonly messages?: never }
    | { readonly messages: readonly PromptMessage[]; readonly text?: never }
  );

/** A prompt whose parts have been checked. */
export interface CheckedPrompt {
  readonly name: string;
  readonly messages: readonly PromptMessage[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly budget: Budget | null;
}

export function readPrompt(prompt: RenderedPrompt): CheckedPrompt {
  if (typeof prompt !== "object" || prompt === null) {
    throw new InputError("prompt", `is ${show(prompt)}; allowed: an object with name, and text or messages`);
  }
  refuseUnheard(prompt);
  const { name } = prompt;
  if (typeof name !== "string" || name === "") throw new InputError("prompt.name", `is ${show(name)}; give it a name`);
  return {
    name,
    messages: readMessages(prompt),
    tools: readTools(prompt.tools ?? []),
    budget: readBudget(prompt.budget, "prompt.budget"),
  };
}

/** Prompts may carry fields of their own, but none that looks as if it limited something: it would limit nothing. */
function refuseUnheard(prompt: RenderedPrompt): void {
  for (const key of Object.keys(prompt)) {
    if (key === "budget" || !isMeantAsLimit(key)) continue;
    throw new InputError(
      `prompt.${key}`,
      "is heard by nobody; allowed: budget, with a Budget of a deadline and tokens",
    );
  }
}

const LIMITING = ["budget", "deadline", "tokenLimit", "token_limit"];

/** A slip of the pen keeps the first letter, and most of the length: a widget or a token is something else. */
function isMeantAsLimit(key: string): boolean {
  const guess = nearest(key, LIMITING);
  return guess !== null && guess[0] === key[0] && Math.abs(guess.length - key.length) <= 2;
}

/** Only the object itself will do: usage is counted for its identity, so a copy would be a fresh budget. */
export function readBudget(budget: unknown, field: string): Budget | null {
  if (budget === undefined || budget === null) return null;
  if (!(budget instanceof Budget)) throw new InputError(field, `is ${show(budget)}; allowed: a Budget, or null`);
  return budget;
}

function readMessages({ text, messages }: RenderedPrompt): readonly PromptMessage[] {
  if (text !== undefined && messages !== undefined)
    throw new InputError("prompt.text", "stands beside messages; give one");
  if (messages === undefined) {
    if (typeof text !== "string") throw new InputError("prompt.text", `is ${show(text)}; allowed: a string`);
    return [{ role: "user", content: text }];
  }
  if (!Array.isArray(messages)) throw new InputError("prompt.messages", `is ${show(messages)}; allowed: an array`);
  messages.forEach((message: unknown, index) => {
    if (typeof (message as PromptMessage | null)?.content !== "string") {
      throw new InputError(`prompt.messages[${index}]`, "has no content; allowed: an object with role and content");
    }
  });
  return [...messages];
}

function readTools(list: unknown): ReadonlyMap<string, Tool> {
  if (!Array.isArray(list)) throw new InputError("prompt.tools", `is ${show(list)}; allowed: an array`);
  const tools = new Map<string, Tool>();
  list.forEach((tool: Partial<Tool> | null, index) => {
    const field = `prompt.tools[${index}]`;
    if (typeof tool?.name !== "string" || tool.name === "") throw new InputError(`${field}.name`, "is missing");
    if (typeof tool.handler !== "function") throw new InputError(`${field}.handler`, "is missing; give a function");
    if (tools.has(tool.name)) throw new InputError(`${field}.name`, `is ${show(tool.name)} a second time`);
    tools.set(tool.name, tool as Tool);
  });
  return tools;
}
