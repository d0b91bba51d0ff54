import type { Evaluation } from "./evaluation.js";
import type { PromptMessage } from "./message.js";
import type { PromptResponse } from "./prompt-response.js";
import type { CheckedResponse } from "./provider-response.js";
import { request } from "./request.js";
import type { ToolExecution } from "./tool.js";
import { contentOf, type Delegate, runTool } from "./tool-run.js";

/** Asks the provider and runs the tools it calls, one after the other, until it gives a response without any. */
export async function run(evaluation: Evaluation): Promise<PromptResponse> {
  using ending = evaluation;
  ending.preflight();
  const messages: PromptMessage[] = [...ending.prompt.messages];
  const executions: ToolExecution[] = [];
  for (let round = 0; round < ending.settings.maxRounds; round++) {
    const response = await request(ending, messages);
    if (response.toolCalls.length === 0) return finalize(ending, response, executions);
    if (response.ending !== "whole") throw unfinished(ending, response);
    messages.push({ role: "assistant", content: response.text, toolCalls: response.toolCalls });
    for (const call of response.toolCalls) {
      const execution = await runTool(ending, call, delegateOf(ending));
      executions.push(execution);
      messages.push({ role: "tool", toolCallId: call.id, name: call.name, content: contentOf(ending, execution) });
    }
  }
  const { maxRounds } = ending.settings;
  throw ending.failure("request", `had no final response after ${maxRounds} requests; raise maxRounds to allow more`);
}

/** Nobody knows what the model still wanted to say about a tool call, so none is made: half an input may do harm. */
function unfinished(evaluation: Evaluation, { ending }: CheckedResponse): Error {
  evaluation.check();
  const advice = "allow more output, with the maxOutputTokens of its provider";
  const why = ending === "length" ? `at the limit of its output; ${advice}` : "by a filter of its provider's";
  return evaluation.failure("request", `called a tool and was cut off ${why}`);
}

function delegateOf(evaluation: Evaluation): Delegate {
  return async (prompt, tally) => run(evaluation.child(prompt, tally));
}

function finalize(
  evaluation: Evaluation,
  { text, ending }: CheckedResponse,
  executions: readonly ToolExecution[],
): PromptResponse {
  evaluation.checkFinal();
  const { prompt, tally, budget } = evaluation;
  return Object.freeze({
    promptName: prompt.name,
    text,
    ending,
    usage: tally.usage,
    estimated: tally.estimated,
    toolExecutions: Object.freeze(executions),
    budget,
  });
}
