import { InputError, show } from "../core/errors.js";
import type { Evaluation } from "./evaluation.js";
import { readFields } from "./fields.js";
import type { ToolCall } from "./message.js";
import { outcomeOf } from "./outcome.js";
import type { PromptResponse } from "./prompt-response.js";
import type { RenderedPrompt } from "./rendered-prompt.js";
import { Tally } from "./tally.js";
import { readTokenUsage } from "./tokens.js";
import type { TokenReport, Tool, ToolContext, ToolExecution } from "./tool.js";

export type Delegate = (prompt: RenderedPrompt, tally: Tally) => Promise<PromptResponse>;

/** One call of a tool. The budget is checked before, because tools have effects, and after, because they use tokens. */
export async function runTool(evaluation: Evaluation, call: ToolCall, delegate: Delegate): Promise<ToolExecution> {
  evaluation.check();
  if (evaluation.signal.aborted) throw evaluation.interruption("tool");
  const tool = evaluation.prompt.tools.get(call.name);
  if (tool === undefined) {
    const known = [...evaluation.prompt.tools.keys()].join(", ") || "none";
    throw evaluation.failure("tool", `has no tool ${show(call.name)}, which the model called; known: ${known}`);
  }
  evaluation.announce("tool", tool.name);
  const tally = new Tally(evaluation.tally);
  const output = await handle(evaluation, tool, call.input, contextOf(evaluation, tally, delegate));
  const { usage, estimated } = tally;
  return Object.freeze({ tool: tool.name, input: call.input, output, usage, estimated, budget: evaluation.budget });
}

/** What the model is told of a tool's output. */
export function contentOf(evaluation: Evaluation, { tool, output }: ToolExecution): string {
  if (typeof output === "string") return output;
  try {
    return JSON.stringify(output) ?? "";
  } catch (error) {
    throw evaluation.failure("tool", `cannot go on: the output of tool ${tool} cannot be written as JSON`, error);
  }
}

async function handle(evaluation: Evaluation, tool: Tool, input: unknown, context: ToolContext): Promise<unknown> {
  const outcome = await outcomeOf(() => tool.handler(input, context), evaluation.signal);
  if (outcome.kind === "done") {
    // Also when the handler swallowed what a subagent raised.
    evaluation.check();
    return outcome.value;
  }
  if (outcome.kind === "abandoned") throw evaluation.interruption("tool");
  const { error } = outcome;
  if (typeof error === "object" && error !== null && evaluation.node.raised.has(error)) throw error;
  evaluation.check(error);
  if (evaluation.signal.aborted) throw evaluation.interruption("tool", error);
  throw evaluation.failure("tool", `cannot go on: tool ${tool.name} threw`, error);
}

function contextOf(evaluation: Evaluation, tally: Tally, delegate: Delegate): ToolContext {
  return Object.freeze({
    budget: evaluation.budget,
    signal: evaluation.signal,
    usage: () => evaluation.usage(),
    remainingTime: () => evaluation.remainingTime(),
    remainingTokens: () => evaluation.remainingTokens(),
    reportTokens: (report: TokenReport) => {
      const { estimated = false } = readFields(report, "report", ["input", "output", "estimated"]);
      if (typeof estimated !== "boolean")
        throw new InputError("report.estimated", `is ${show(estimated)}; allowed: a boolean`);
      const used = readTokenUsage(report, "report");
      evaluation.now();
      evaluation.node.charge(used, estimated);
      tally.add(used, estimated);
    },
    delegate: (prompt: RenderedPrompt) => delegate(prompt, tally),
  });
}
