import { InputError, show } from "../../core/errors.js";
import { deeper } from "../meter/round.js";

/** A tool as the SDK calls it. */
interface Executed {
  execute?: unknown;
}

/**
 * Counts what a tool does as one level deeper, so that a limit of `depth` bounds how far agents call agents. The SDK does not tell
 * a loop that it runs inside of another one's tool, so the tool has to say so.
 *
 * @example
 * ```ts
 * const research = nested(tool({ inputSchema, execute: ({ topic }) => generateText({ ...researcher, prompt: topic }) }));
 * ```
 */
export function nested<Tool extends Executed>(tool: Tool): Tool {
  const execute: unknown = tool?.execute;
  if (typeof execute !== "function") {
    throw new InputError("tool", `is ${show(tool)}; allowed: a tool with an execute function`);
  }
  return { ...tool, execute: (...args: unknown[]): unknown => deeper(() => execute.apply(tool, args)) };
}
