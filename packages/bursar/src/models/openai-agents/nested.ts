import { InputError, show } from "../../core/errors.js";
import { deeper } from "../meter/round.js";

/** A tool as the SDK calls it. */
interface Invoked {
  invoke(...args: never[]): unknown;
}

/**
 * Counts what a tool does as one level deeper, so that a limit of `depth` bounds how far agents call agents. The SDK does not tell
 * a model who has called its agent, so the tool has to say so. It is the same tool that comes back.
 *
 * @example
 * ```ts
 * const agent = new Agent({ name: "Lead", tools: [nested(researcher.asTool({ toolName: "research" }))] });
 * await withBudget({ depth: 1 }, () => runner.run(agent, "What is new?"));
 * ```
 */
export function nested<Tool extends Invoked>(tool: Tool): Tool {
  const invoke: unknown = tool?.invoke;
  if (typeof invoke !== "function") {
    throw new InputError("tool", `is ${show(tool)}; allowed: a tool that the agent's own process runs`);
  }
  return Object.assign(tool, { invoke: (...args: unknown[]): unknown => deeper(() => invoke.apply(tool, args)) });
}
