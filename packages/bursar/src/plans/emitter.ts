import { laterId, nowId } from "./library/library.js";
import type { Position } from "./plan-error.js";
import type { Binding, Expression, FunctionExpression, Handler, Round, Statement, Turn } from "./syntax/expression.js";

type Of<Kind extends Expression["kind"]> = Extract<Expression, { readonly kind: Kind }>;

/**
 * Writes expressions as JavaScript. No word of the plan gets into it other than as a text in quotes: names become numbers.
 * An expression stands in parentheses, so that it can stand anywhere.
 */
export class Emitter {
  /** What the code needs of the library. */
  readonly used: Set<string> = new Set();
  /** The places of the plan by the numbers that the code has for them. */
  readonly positions: Position[] = [];
  private readonly numbers = new Map<string, number>();
  /** Whether anything of the function that is being written waits. */
  private waits = false;
  private temporaries = 0;

  constructor(start: Position) {
    this.at(start);
  }

  /** The statements of a function's body: they give back the value, or go back to the start of the round. */
  tail(expression: Expression): string {
    switch (expression.kind) {
      case "choice": {
        const clauses = expression.clauses.map(
          ({ test, value }) => `if (${this.test(test)}) {\n${this.tail(value)}}\n`,
        );
        return `${clauses.join("")}${this.tail(expression.otherwise)}`;
      }
      case "block": {
        const statements = expression.statements.map((statement) => this.statement(statement));
        return `${statements.join("")}${this.tail(expression.value)}`;
      }
      case "all":
      case "any":
        return this.firstOf(expression);
      case "again": {
        const next = expression.items.map((item, index) => {
          const binding = expression.round.bindings[index] as Binding;
          return `${nextOf(binding)} = ${this.value(item)};\n`;
        });
        return `${next.join("")}continue;\n`;
      }
      default:
        return `return ${this.value(expression)};\n`;
    }
  }

  value(expression: Expression): string {
    switch (expression.kind) {
      case "literal":
        return literal(expression.value);
      case "local":
        return nameOf(expression.binding);
      case "vector":
        return `[${this.values(expression.items)}]`;
      case "set":
        return `${this.library("asSet")}(${this.at(expression)}, [${this.values(expression.items)}])`;
      case "map":
        return `${this.library("record")}(${this.at(expression)}, [${this.values(expression.entries.flat())}])`;
      case "builtin":
        return this.builtin(expression);
      case "choice":
        return this.choice(expression);
      case "block":
        return this.block(expression);
      case "function":
        return this.function(expression);
      case "use":
        return this.use(expression);
      case "apply":
        return this.apply(expression);
      case "loop":
        return this.loop(expression);
      case "for":
        return this.inside(() => this.turns(expression));
      case "try":
        return this.inside(() => this.attempt(expression));
      case "tool":
        return this.awaited(expression, "tool", [literal(expression.name), this.value(expression.argument)]);
      case "effect":
        return this.awaited(expression, expression.effect.id, [this.value(expression.argument)]);
      case "step":
        return this.awaited(expression, "step", [this.value(expression.name), this.branch(expression.body)]);
      case "parallel":
        return this.parallel(expression);
      case "spawn":
        return this.spawn(expression);
      case "all":
      case "any":
      case "again":
        return this.inside(() => this.tail(expression));
    }
  }

  private values(items: readonly Expression[]): string {
    return items.map((item) => this.value(item)).join(", ");
  }

  /** A condition, as JavaScript understands it: only nil and false are false in a plan. */
  private test(expression: Expression): string {
    switch (expression.kind) {
      case "literal":
        return String(expression.value !== null && expression.value !== false);
      case "all":
      case "any": {
        const operator = expression.kind === "all" ? " && " : " || ";
        return `(${expression.items.map((item) => this.test(item)).join(operator)})`;
      }
      case "use": {
        const [first] = expression.items;
        if (expression.builtin.id === "not" && first !== undefined) return `!${this.test(first)}`;
        if (expression.builtin.isTest === true) return this.value(expression);
        break;
      }
    }
    return `${this.library("is")}(${this.value(expression)})`;
  }

  private statement({ binding, value }: Statement): string {
    // In parentheses, because a text that stands alone at the start of a function would be an order to the engine.
    return binding === null ? `(${this.value(value)});\n` : `const ${nameOf(binding)} = ${this.value(value)};\n`;
  }

  private firstOf({ kind, items }: Of<"all" | "any">): string {
    const before = items.slice(0, -1).map((item) => {
      const name = `t${this.temporaries++}`;
      const stops = `${kind === "all" ? "!" : ""}${this.library("is")}(${name})`;
      return `const ${name} = ${this.value(item)};\nif (${stops}) return ${name};\n`;
    });
    return `${before.join("")}${this.tail(items.at(-1) as Expression)}`;
  }

  private choice(expression: Of<"choice">): string {
    const [first, second] = expression.clauses;
    if (first === undefined) return this.value(expression.otherwise);
    // More than one is written flat, because the engine would go deeper with every further one.
    if (second !== undefined) return this.inside(() => this.tail(expression));
    return `(${this.test(first.test)} ? ${this.value(first.value)} : ${this.value(expression.otherwise)})`;
  }

  private block(expression: Of<"block">): string {
    if (expression.statements.some(({ binding }) => binding !== null)) return this.inside(() => this.tail(expression));
    return `(${this.values([...expression.statements.map(({ value }) => value), expression.value])})`;
  }

  private builtin({ builtin, line, column }: Of<"builtin">): string {
    const { id, calls, least, most } = builtin;
    const code = this.library(calls === undefined ? id : laterId(id));
    const inner = `(...items) => ${code}(${this.at({ line, column })}, ...items)`;
    return `${this.library("fn")}(${least}, ${most ?? "Infinity"}, ${inner})`;
  }

  private use(expression: Of<"use">): string {
    const { builtin, items, handed } = expression;
    if (builtin.calls === undefined) {
      return this.marked(
        expression,
        builtin.id,
        items.map((item) => this.value(item)),
        builtin.waits === true,
      );
    }
    const waits = handed === undefined || handed?.waits === true;
    const id = waits ? laterId(builtin.id) : nowId(builtin.id);
    return this.marked(
      expression,
      id,
      items.map((item) => this.value(item)),
      waits,
    );
  }

  private apply(expression: Of<"apply">): string {
    const { callee, items } = expression;
    const known = callee.kind === "function" ? callee : callee.kind === "local" ? callee.binding.known : null;
    const at = this.at(expression);
    const code =
      known === null
        ? `${this.library("callable")}(${at}, "the call", ${this.value(callee)}, ${items.length})`
        : this.value(callee);
    const waits = known === null || known.waits;
    if (waits) this.waits = true;
    return `(\n/*@${at}*/${waits ? "await " : ""}${code}(${this.values(items)}))`;
  }

  private function(expression: FunctionExpression): string {
    const { self, parameters, rest, arity, round, body } = expression;
    const naming = round.used ? nextOf : nameOf;
    const names = [...parameters.map(naming), ...(rest === null ? [] : [`...${naming(rest)}`])].join(", ");
    const { text } = this.apart(() => (round.used ? this.rounds(round, body) : this.tail(body)));
    const code = `${expression.waits ? "async " : ""}(${names}) => {\n${text}}`;
    const made = `${this.library("fn")}(${arity.least}, ${arity.most ?? "Infinity"}, ${code})`;
    return self === null ? made : `(() => {\nconst ${nameOf(self)} = ${made};\nreturn ${nameOf(self)};\n})()`;
  }

  private loop(expression: Of<"loop">): string {
    const { round, first, body } = expression;
    return this.inside(() => {
      const names = round.bindings.map(
        (binding, index) => `let ${nextOf(binding)} = ${this.value(first[index] as Expression)};\n`,
      );
      return `/*@${this.at(expression)}*/${names.join("")}${this.rounds(round, body)}`;
    });
  }

  /** Every round has names of its own, so that a function made in it keeps what it saw. */
  private rounds(round: Round, body: Expression): string {
    const names = round.bindings.map((binding) => `const ${nameOf(binding)} = ${nextOf(binding)};\n`);
    return `for (;;) {\n${names.join("")}${this.tail(body)}}\n`;
  }

  private turns({ turns, body, collects }: Of<"for">): string {
    const name = `t${this.temporaries++}`;
    const opened = turns.map((turn) => this.turn(turn));
    const last = collects ? `${name}.push(${this.value(body)});\n` : `(${this.value(body)});\n`;
    const closed = turns.map((turn) => (turn.kind === "bind" ? "" : "}\n")).join("");
    const loops = `${opened.join("")}${last}${closed}`;
    return collects ? `const ${name} = [];\n${loops}return ${name};\n` : `${loops}return null;\n`;
  }

  private turn(turn: Turn): string {
    if (turn.kind === "bind") return this.statement(turn.statement);
    if (turn.kind === "when") return `if (${this.test(turn.test)}) {\n`;
    const list = `${this.library("list")}(${this.at(turn)}, "for", ${this.value(turn.list)})`;
    return `for (const ${nameOf(turn.binding)} of ${list}) {\n`;
  }

  private attempt({ body, handlers, last }: Of<"try">): string {
    const caught = handlers.length === 0 ? "" : `catch (error) {\n${this.handlers(handlers)}}`;
    const finished = last === null ? "" : `finally {\n(${this.value(last)});\n}`;
    return `try {\n${this.tail(body)}} ${caught} ${finished}\n`;
  }

  private handlers(handlers: readonly Handler[]): string {
    const described = `const thrown = ${this.library("describe")}(error);\n`;
    const parts = handlers.map(({ code, binding, body }) => {
      const inner = `const ${nameOf(binding)} = thrown;\n${this.tail(body)}`;
      return code === null ? `{\n${inner}}\n` : `if (thrown.code === ${literal(code)}) {\n${inner}}\n`;
    });
    const takesAll = handlers.some(({ code }) => code === null);
    return `${described}${parts.join("")}${takesAll ? "" : "throw error;\n"}`;
  }

  private parallel(expression: Of<"parallel">): string {
    const branches = expression.branches.map((branch) => this.branch(branch));
    this.waits = true;
    return `(\n/*@${this.at(expression)}*/await ${this.library("parallel")}([${branches.join(", ")}]))`;
  }

  private spawn(expression: Of<"spawn">): string {
    const program = JSON.stringify({ kind: "child", index: expression.child });
    const options = quoted(JSON.stringify(expression.options));
    return this.awaited(expression, "spawn", [program, this.value(expression.input), options]);
  }

  /** Something that is begun later, by somebody else. */
  private branch(body: Expression): string {
    return `async () => {\n${this.apart(() => this.tail(body)).text}}`;
  }

  private awaited(position: Position, id: string, items: readonly string[]): string {
    return this.marked(position, id, items, true);
  }

  /** A call of the library. It begins a line of its own, by which the engine's own errors find back to the plan. */
  private marked(position: Position, id: string, items: readonly string[], waits: boolean): string {
    if (waits) this.waits = true;
    const at = this.at(position);
    return `(\n/*@${at}*/${waits ? "await " : ""}${this.library(id)}(${[at, ...items].join(", ")}))`;
  }

  /** Statements where an expression has to stand. */
  private inside(write: () => string): string {
    const { text, waits } = this.apart(write);
    if (!waits) return `(() => {\n${text}})()`;
    this.waits = true;
    return `(await (async () => {\n${text}})())`;
  }

  private apart(write: () => string): { readonly text: string; readonly waits: boolean } {
    const before = this.waits;
    this.waits = false;
    const text = write();
    const { waits } = this;
    this.waits = before;
    return { text, waits };
  }

  private library(id: string): string {
    this.used.add(id);
    return `$${id}`;
  }

  private at({ line, column }: Position): number {
    const key = `${line}:${column}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    const number = this.positions.length;
    this.numbers.set(key, number);
    this.positions.push({ line, column });
    return number;
  }
}

export function nameOf({ name, number }: Binding): string {
  return `v${number}_${name.replace(/[^A-Za-z0-9]/g, "_").slice(0, 24)}`;
}

/** What a name will stand for in the next round. */
function nextOf(binding: Binding): string {
  return `n${nameOf(binding)}`;
}

function literal(value: null | boolean | number | string): string {
  return quoted(JSON.stringify(value));
}

/** JSON is JavaScript, apart from two line ends that older engines took for their own. */
export function quoted(json: string): string {
  return json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
