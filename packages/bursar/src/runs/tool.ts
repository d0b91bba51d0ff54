import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Json } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import type { BudgetAmounts } from "../core/input.js";
import type { JsonSchema } from "../json-schema/json-schema.js";
import type { Doing, Made } from "./deed.js";
import { RunError } from "./error.js";
import { type GovernedFetch, governedFetch } from "./governed-fetch.js";
import { type GovernedFiles, governedFiles } from "./governed-files.js";
import { checkToolInput, type ToolInput } from "./tool-input.js";

/** What a tool gets besides its arguments. */
export interface ToolContext {
  readonly run_id: string;
  readonly signal: AbortSignal;
  /** The same for every try of one call, so that whoever is called can tell a second one from a new one. */
  readonly key: string;
  /** The only way out for a tool that wants its bytes counted: what does not fit is not sent. */
  readonly fetch: GovernedFetch;
  readonly files: GovernedFiles;
}

/** Something an agent may use. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /**
   * What the tool takes: a schema of Zod, Valibot, ArkType or another library that implements Standard Schema, or a JSON Schema. Input that
   * does not fit is refused before the call, and costs nothing.
   */
  readonly input: ToolInput;
  /** The JSON Schema that models and MCP clients are shown, where the library of `input` cannot write one. */
  readonly inputSchema?: JsonSchema;
  /** The most a call may use, in edge units. A step is counted anyway. */
  readonly quote?: BudgetAmounts | ((args: Json) => BudgetAmounts);
  /**
   * What a call has used, from what it gave back. Without it, usage in the result's metadata is charged (`metadata.usage`, `usage`,
   * `total_cost_usd` and the other names that providers have for it), less what calls of the tool's own were charged already. What is said
   * nowhere is charged as quoted.
   */
  readonly meter?: (result: unknown) => BudgetAmounts;
  /** A human has to say yes to every call of it. */
  readonly approval?: boolean;
  /** When it is not known whether a call has happened: `repeat` unless it says `fail`. */
  readonly interrupted?: "repeat" | "fail";
  run(args: never, context: ToolContext): Promise<unknown> | unknown;
}

/** The arguments that `run` gets: what a Standard Schema parses them to. After a JSON Schema, `run` names their type itself. */
export type ToolArguments<Input extends ToolInput> = [Input] extends [StandardSchemaV1]
  ? StandardSchemaV1.InferOutput<Input>
  : never;

/** A tool as it is defined, with the types that follow from its input. */
export interface ToolOptions<Input extends ToolInput> extends Omit<Tool, "input" | "quote" | "run"> {
  readonly input: Input;
  /** The most a call may use, in edge units. A step is counted anyway. */
  readonly quote?:
    | BudgetAmounts
    | ((args: [Input] extends [StandardSchemaV1] ? StandardSchemaV1.InferOutput<Input> : Json) => BudgetAmounts);
  run(args: ToolArguments<Input>, context: ToolContext): Promise<unknown> | unknown;
}

const KEYS = ["name", "description", "input", "inputSchema", "quote", "meter", "approval", "interrupted", "run"];

/**
 * Defines a tool: what it takes, what it may cost and what it does.
 *
 * @example
 * ```ts
 * const search = defineTool({
 *   name: "search",
 *   description: "Searches the web.",
 *   input: z.object({ query: z.string() }),
 *   quote: { cost_usd: 0.005 },
 *   run: async ({ query }, { fetch }) => (await fetch(`https://search.example/?q=${query}`)).json(),
 * });
 * ```
 *
 * @throws {InputError} that names the field, and says what is allowed.
 */
export function defineTool<Input extends ToolInput>(tool: ToolOptions<Input>): Tool {
  checkKeys(tool, "tool", KEYS);
  if (typeof tool.name !== "string" || !/^[\w./:-]{1,100}$/.test(tool.name)) {
    throw new InputError("tool.name", `is ${show(tool.name)}; allowed: 1 to 100 letters, digits and . _ - / :`);
  }
  if (typeof tool.run !== "function") throw new InputError("tool.run", `is ${show(tool.run)}; allowed: a function`);
  checkToolInput(tool);
  // `quote` and `run` get what the schema parses, so they can take what the schema says.
  return tool as unknown as Tool;
}

/** Uses a tool, inside the call that was admitted for it. */
export async function useTool(tool: Tool, args: unknown, doing: Doing): Promise<Made> {
  const ends = new LooseEnds(tool.name);
  const { over } = ends;
  const fetch = governedFetch(doing, over);
  const context: ToolContext = {
    run_id: doing.run.id,
    signal: doing.signal,
    key: doing.key,
    fetch: (input, init) => ends.keep(() => fetch(input, init)),
    files: governedFiles(doing, (work) => ends.keep(work)),
  };
  try {
    const value = await tool.run(args as never, context);
    return tool.meter === undefined ? { value, report: value } : { value, usage: { ...tool.meter(value) } };
  } finally {
    await ends.tie();
  }
}

/**
 * What a tool has begun and not waited for. It is settled before the tool's call is, or it would hold something in a budget
 * that ends; and it stays unanswered, because an error that nobody waits for ends the whole process.
 */
class LooseEnds {
  readonly over: AbortSignal;
  private readonly controller = new AbortController();
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly name: string;

  constructor(name: string) {
    this.name = name;
    this.over = this.controller.signal;
  }

  keep<Value>(work: () => Promise<Value>): Promise<Value> {
    const told = this.over.aborted ? Promise.reject(this.over.reason) : this.follow(work());
    told.catch(() => {});
    return told;
  }

  private follow<Value>(done: Promise<Value>): Promise<Value> {
    this.underWay.add(done);
    return new Promise<Value>((resolve, reject) => {
      const unlessOver =
        <Result>(tell: (result: Result) => void) =>
        (result: Result) => {
          this.underWay.delete(done);
          if (!this.over.aborted) tell(result);
        };
      done.then(unlessOver(resolve), unlessOver(reject));
    });
  }

  async tie(): Promise<void> {
    this.controller.abort(
      new RunError("over", `this call of ${this.name} is over; wait for everything before you return`),
    );
    await Promise.allSettled(this.underWay);
  }
}
