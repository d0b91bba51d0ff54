import type { Amounts } from "../../core/amount.js";
import type { Json } from "../../core/chain/canonical.js";
import type { Expression, Handler } from "../expression.js";
import type { Position } from "../plan-error.js";
import { childForeseen } from "./children.js";
import type { Foreseen } from "./foreseen.js";
import { FAILS, type Outcome, outcomeOf } from "./outcome.js";
import { BLANKS } from "./questions.js";
import { Scene } from "./scene.js";
import { DATA, type Entries, isEntries, readable, Unknown, type Value } from "./value.js";
import type { ExpressionOf, Walk } from "./walk.js";

type EffectKind = "try" | "tool" | "effect" | "step" | "parallel" | "spawn";
type Effects = { readonly [Kind in EffectKind]: (walk: Walk, expression: ExpressionOf<Kind>, scene: Scene) => Outcome };

/** What plans do beyond computing. */
export const EFFECTS: Effects = {
  try: attempt,
  tool: (walk, { name, argument }, scene) => {
    const value = walk.value(argument, scene);
    if (value === FAILS) return FAILS;
    const foreseen = toolForeseen(walk, name, value);
    if (foreseen === null) return FAILS;
    walk.add(foreseen);
    return DATA;
  },
  effect: (walk, expression, scene) => {
    const value = walk.value(expression.argument, scene);
    if (value === FAILS) return FAILS;
    switch (expression.effect.id) {
      case "sleep":
        return null;
      case "chat":
        return ask(walk, value, expression);
      case "ask":
        return ask(walk, asked(value), expression);
      default:
        return DATA;
    }
  },
  step: (walk, { name, body }, scene) =>
    walk.value(name, scene) === FAILS ? FAILS : walk.evaluate(body, new Scene(scene)),
  parallel: (walk, { branches }, scene) => {
    // What fails does not hold up the others.
    const outcomes = branches.map((branch) => walk.value(branch, scene));
    return outcomes.includes(FAILS) ? FAILS : (outcomes as readonly Value[]);
  },
  spawn: (walk, { child, input }, scene) => {
    const value = walk.value(input, scene);
    if (value === FAILS) return FAILS;
    walk.add(childForeseen(walk, child, value));
    return DATA;
  },
};

/** What is tried is expected to succeed; what is done when it does not counts for the bound. */
function attempt(walk: Walk, { body, handlers, last }: ExpressionOf<"try">, scene: Scene): Outcome {
  const done = walk.evaluate(body, scene);
  const handled = walk.apart(() =>
    handlers.length === 0
      ? FAILS
      : walk.either(handlers.map((handler) => ({ look: () => caught(walk, handler, scene), weight: 1 }))),
  );
  walk.add(done === FAILS ? handled.foreseen : walk.sums.times(handled.foreseen, 0, 1));
  if (last !== null && walk.value(last, scene) === FAILS) return FAILS;
  return outcomeOf([done, handled.result], walk.spend);
}

function caught(walk: Walk, { binding, body }: Handler, scene: Scene): Outcome {
  const inner = new Scene(scene);
  inner.bind(binding, DATA);
  return walk.evaluate(body as Expression, inner);
}

/** What a call of a tool takes; null when it cannot be called like this. */
function toolForeseen(walk: Walk, name: string, value: Value): Foreseen | null {
  const { sums, questions, spend } = walk;
  const once = sums.exactly({ steps: 1, "tool calls": 1 });
  const first = readable(value, null, spend);
  if (first === null) return null;
  const quoteFor = (json: Json) => questions.tool(name, json ?? {});
  const quote = quoteFor(first.json);
  const silent = sums.plus(once, sums.open(`${name} does not say what it uses`));
  if (quote === null) return silent;
  if (first.isWhole) return sums.exactly({ ...quote, "tool calls": 1 });
  const others = BLANKS.slice(1).map((blank) => quoteFor(readable(value, blank, spend)?.json ?? null));
  if (others.every((other) => isSame(quote, other))) return sums.exactly({ ...quote, "tool calls": 1 });
  const ids = [quote, ...others].flatMap((each) => Object.keys(each ?? {})).filter((id) => id !== "steps");
  const isSilent = others.includes(null);
  const why = `what ${name} uses depends on arguments that are not known yet`;
  return sums.plus(once, isSilent ? sums.open(why) : sums.open(why, ids));
}

function isSame(one: Amounts, other: Amounts | null): boolean {
  if (other === null) return false;
  const ids = Object.keys(one);
  return ids.length === Object.keys(other).length && ids.every((id) => one[id] === other[id]);
}

const TOKENS = ["llm_tokens", "llm_input_tokens", "llm_output_tokens"];

/** Asks a model. How much goes in has to be known for a quote that holds. */
function ask(walk: Walk, request: Value | typeof FAILS, { line, column }: Position): Outcome {
  if (request === FAILS) return FAILS;
  const { sums, questions, spend } = walk;
  const written = readable(request, "", spend);
  if (written === null) return FAILS;
  const quote = questions.model(written.json);
  const counted = { "model calls": 1 };
  if (quote === null) {
    const open = sums.open(`there is no quote for the model call at ${line}:${column}`);
    walk.add(sums.plus(sums.exactly({ steps: 1, ...counted }), open));
  } else if (!written.isWhole) {
    const ids = [...Object.keys(quote).filter((id) => id !== "steps"), ...TOKENS];
    const open = sums.open(`what the model is asked at ${line}:${column} is not known yet`, ids);
    walk.add(sums.plus(sums.exactly({ steps: 1, ...counted }), open));
  } else {
    walk.add(sums.exactly({ ...quote, ...counted }));
    const isSilent = quote.llm_tokens === undefined;
    if (isSilent) walk.add(sums.open(`the quote for the model call at ${line}:${column} has no tokens`, TOKENS));
  }
  return DATA;
}

/** The request that `llm/ask` makes. */
function asked(value: Value): Value | typeof FAILS {
  if (value instanceof Unknown) return value;
  const given: Entries = typeof value === "string" ? { prompt: value } : isEntries(value) ? value : {};
  const { prompt = null, system = null, ...more } = given;
  if (typeof prompt !== "string" && !(prompt instanceof Unknown)) return FAILS;
  const question = { role: "user", content: prompt };
  return { ...more, messages: system === null ? [question] : [{ role: "system", content: system }, question] };
}
