import { type Dimensions, STANDARD } from "../core/dimensions.js";
import { InputError, show } from "../core/errors.js";
import { BudgetReader, type PlanBudget } from "./budget.js";
import type { Form, FormOf } from "./edn/form.js";
import { readForms } from "./edn/reader.js";
import { Emitter, nameOf } from "./emitter.js";
import { block, body } from "./forms/body.js";
import { readInputs } from "./inputs.js";
import type { Plan } from "./plan.js";
import { programOf } from "./program.js";
import { Resolver } from "./resolver.js";
import { readRun } from "./run-form.js";
import { Source } from "./source.js";
import type { Routine } from "./syntax/expression.js";
import { Scope } from "./syntax/scope.js";
import { spreadWaiting } from "./waits.js";

export interface CompileOptions {
  /** What errors call the text. */
  readonly file?: string;
  /** The dimensions that `:budget` may name: the standard ones unless it says otherwise. */
  readonly dimensions?: Dimensions;
}

/**
 * Compiles an RTFS plan to a program for the sandbox's JavaScript guest. The same text gives the same program.
 *
 * @throws {PlanError} with the line and the column of what is wrong.
 */
export function compilePlan(text: string, options: CompileOptions = {}): Plan {
  if (typeof text !== "string") throw new InputError("plan", `is ${show(text)}; allowed: the text of a plan`);
  const source = new Source(options.file ?? "<plan>", text);
  return new Compiler(source, options.dimensions ?? STANDARD).compile(runIn(source), null);
}

/** The one form of a plan's text. */
function runIn(source: Source): FormOf<"list"> {
  const [form, further] = readForms(source);
  const hint = "a plan is one (run :budget {…} :body (do …))";
  if (form === undefined) throw source.error({ line: 1, column: 1 }, "there is no plan in this text", hint);
  if (!isRun(form)) throw source.error(form, "this is not a run", hint);
  if (further !== undefined) throw source.error(further, "a plan is one run, and this is a second form", hint);
  return form;
}

function isRun(form: Form): form is FormOf<"list"> {
  if (form.kind !== "list") return false;
  const [head] = form.items;
  return head?.kind === "symbol" && head.name === "run";
}

/** Compiles the runs of one text. */
class Compiler {
  private readonly source: Source;
  private readonly budgets: BudgetReader;

  constructor(source: Source, dimensions: Dimensions) {
    this.source = source;
    this.budgets = new BudgetReader(source, dimensions);
  }

  /** `hidden` are the names around a nested run, which it cannot see. */
  compile(list: FormOf<"list">, hidden: Scope | null): Plan {
    const { source, budgets } = this;
    const run = readRun(list, source, hidden !== null);
    const budget = run.budget === null ? null : budgets.budget(run.budget, hidden !== null);
    const session = run.session === null ? null : budgets.session(run.session);
    const children: Plan[] = [];
    const resolver = new Resolver(source, (inner, around) => {
      const child = this.compile(inner, around);
      children.push(child);
      return { child: children.length - 1, options: optionsOf(child) };
    });
    const routine: Routine = { waits: true, calls: new Set() };
    const context = { scope: new Scope(), hidden, routine, round: null, depth: 0 };
    const input = resolver.newBinding("input");
    context.scope.add(input);
    const inputs = readInputs(run.inputs, input, context, resolver);
    const whole = block(inputs.statements, body([run.body], context, resolver));
    spreadWaiting(resolver.functions);
    const emitter = new Emitter(run.position);
    const code = programOf(emitter.tail(whole), nameOf(input), emitter, source.file);
    const { tools, effects } = resolver;
    return {
      file: source.file,
      text: source.text,
      name: run.name,
      inputs: inputs.wanted,
      budget,
      session,
      code,
      positions: emitter.positions,
      tools: [...tools.keys()],
      effects: [...effects.keys()],
      mentions: Object.fromEntries([...tools, ...effects]),
      children,
    };
  }
}

/** What the host is told when a child is started: its name and its budget, as data. */
function optionsOf({ name, budget }: Plan): object {
  const { grant, limits, policies } = budget as PlanBudget;
  return { ...(name === null ? {} : { name }), grant, limits, policies };
}
