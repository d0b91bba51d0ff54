import type { Json, JsonObject } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import type { BudgetLimits, BudgetPolicies } from "../core/input.js";
import type { Known } from "../ports/foresight.js";
import type { Program, Stage } from "../ports/program.js";
import { sha256Hex } from "../runtime/crypto.js";
import { type Expectation, readExpectation } from "./expectation.js";
import { toJson } from "./json.js";

/** A child's budget: what its parent has (`share`), a part of what is left of it, or limits of its own. */
export type SpawnBudget =
  | "share"
  | { readonly fraction: number; readonly limits?: BudgetLimits; readonly policies?: BudgetPolicies }
  | { readonly limits: BudgetLimits; readonly policies?: BudgetPolicies };

/** The world, as an agent gets it. All of it is governed, and told the same again when the run is resumed. */
export interface AgentContext {
  readonly run_id: string;
  readonly signal: AbortSignal;
  /** The final answer: may use what was set aside for it. */
  readonly final: Pick<AgentContext, "model" | "tool">;
  /** With `wait`, the answer may take a day: the call goes out with others at a lower price, and the run pauses meanwhile. */
  model<Answer = Json>(request: JsonObject, options?: ModelOptions): Promise<Answer>;
  /** Model calls that belong together: all of them stay at the tier that the first is given, or at the one that is named here. */
  pinned(step: string, options?: PinOptions): Pick<AgentContext, "model">;
  tool<Answer = Json>(name: string, args?: unknown): Promise<Answer>;
  /** Runs untrusted code in the sandbox. */
  exec<Answer = Json>(language: "python" | "javascript", code: string, options?: JsonObject): Promise<Answer>;
  /** Runs another program below this one: `{ fraction: 0.5 }` of what is left unless it says otherwise. */
  spawn<Answer = Json>(program: string, input?: unknown, budget?: SpawnBudget): Promise<Answer>;
  /** Does something of the agent's own, once: a replay gets what it gave the first time. */
  step<Value>(name: string, work: (signal: AbortSignal) => Promise<Value> | Value): Promise<Value>;
  /** What the run has used, and what is left of it. */
  budget(): Promise<{ readonly used: JsonObject; readonly remaining: JsonObject; readonly held: JsonObject }>;
  now(): Promise<Date>;
  /** At least 0 and below 1. */
  random(): Promise<number>;
  sleep(ms: number): Promise<void>;
}

export interface ModelOptions {
  /** Whether it can wait for its answer: false. */
  readonly wait?: boolean;
}

export interface PinOptions {
  /** The tier, by its name in the list; chosen by the first call, unless it is said. */
  readonly tier?: string;
}

export interface AgentOptions<Input = Json> {
  /** Say another one when the program is changed so that runs under way cannot go on with it. */
  readonly version?: string;
  /**
   * What a run with this input will take, in edge units, as far as that is known before it begins; null when it is not. It does
   * nothing itself: `known` tells what tools and models quote.
   *
   * @example
   * ```ts
   * const translate = defineAgent("translate", translateAll, {
   *   expects: ({ pages }: { pages: string[] }) => ({
   *     steps: pages.length,
   *     cost_usd: { median: 0.002 * pages.length, upper: 0.005 * pages.length },
   *   }),
   * });
   * ```
   */
  readonly expects?: (input: Input, known: Known) => Expectation | null | Promise<Expectation | null>;
}

/**
 * A program in TypeScript. Whatever it wants from the world goes through the context, so that every effect is inside the
 * budget and a run can go on where it was: from the beginning, with all answers it had. Between two effects it has to do
 * the same every time.
 *
 * @example
 * ```ts
 * const summarize = defineAgent("summarize", async (ctx, { url }: { url: string }) => {
 *   const page = await ctx.tool("fetch_page", { url });
 *   return ctx.model({ model: "small", prompt: `Summarize: ${page}` });
 * });
 * ```
 */
export function defineAgent<Input = Json, Result = unknown>(
  name: string,
  play: (context: AgentContext, input: Input) => Promise<Result>,
  { version = "1", expects }: AgentOptions<Input> = {},
): Program {
  if (typeof name !== "string" || !/^[\w.-]{1,100}$/.test(name)) {
    throw new InputError("name", `is ${show(name)}; allowed: 1 to 100 letters, digits, ".", "_" and "-"`);
  }
  if (typeof play !== "function") throw new InputError("agent", `is ${show(play)}; allowed: a function`);
  if (expects !== undefined && typeof expects !== "function") {
    throw new InputError("expects", `is ${show(expects)}; allowed: a function`);
  }
  return {
    kind: "agent",
    name,
    digest: sha256Hex(`agent\n${name}\n${version}`),
    code: sha256Hex(Function.prototype.toString.call(play)),
    source: null,
    ...(expects !== undefined && {
      expects: async (input: Json, known: Known) => {
        const expected = await expects(input as Input, known);
        if (expected === null) return null;
        return { dimensions: readExpectation(expected, known.dimensions, "expects"), about: "stated by the program" };
      },
    }),
    play: (stage, input) => ({
      result: (async () => toJson(await play(contextOn(stage), input as Input)))(),
    }),
  };
}

function contextOn(stage: Stage): AgentContext {
  const ask = <Answer>(name: string, args: JsonObject): Promise<Answer> =>
    forgettable((async () => stage.ask(name, args).answer as unknown as Promise<Answer>)());
  const model =
    (final: boolean) =>
    (request: JsonObject, { wait = false }: ModelOptions = {}) =>
      // Unsaid where it cannot wait, so that runs go on that asked before there was such a word.
      ask<never>("llm", { request: json(request), final, ...(wait && { wait }) });
  const pinned: AgentContext["pinned"] = (step, { tier } = {}) => ({
    model: ({ bursar, ...request }, options) => {
      const about = { step, ...(tier !== undefined && { tier }), ...((bursar ?? {}) as JsonObject) };
      return model(false)({ ...request, bursar: about }, options);
    },
  });
  const tool =
    (final: boolean) =>
    (name: string, args: unknown = {}) =>
      ask<never>("tool", { name, args: json(args), final });
  return {
    run_id: stage.run_id,
    signal: stage.signal,
    final: { model: model(true), tool: tool(true) },
    model: model(false),
    pinned,
    tool: tool(false),
    exec: (language, code, options = {}) => ask("exec", { language, code, ...options }),
    spawn: (program, input = null, budget = { fraction: 0.5 }) =>
      ask("spawn", { program, input: json(input), budget: json(budget) }),
    step: (name, work) => {
      const own = async (signal: AbortSignal) => work(signal);
      return stage.ask("step", { name }, own).answer as Promise<never>;
    },
    budget: () => ask("budget", {}),
    now: () => forgettable(ask<number>("now", {}).then((instant) => new Date(instant))),
    random: () => ask("random", {}),
    sleep: (ms) => ask("sleep", { ms }),
  };
}

/** A program may never look at an answer; that is no reason to end the process, in which other runs may be. */
function forgettable<Answer>(promise: Promise<Answer>): Promise<Answer> {
  promise.catch(() => {});
  return promise;
}

/** What an agent hands over has to be the same in a replay, so it must be something that can be written down. */
function json(value: unknown): Json {
  const written = JSON.stringify(value);
  if (written === undefined) throw new InputError("argument", `is ${show(value)}; allowed: what JSON can say`);
  return JSON.parse(written) as Json;
}
