import { PackageError, show } from "./errors.js";
import { isName, normalizeName } from "./names.js";
import { meets, parseSpecifiers, type Specifiers } from "./specifier.js";
import { parseVersion } from "./version.js";

/** What a package may ask about the Python it runs in (PEP 508). */
export type Environment = Readonly<Record<string, string>>;

/** The Python in the sandbox: what it says about itself, whatever the machine around it is. */
export const GUEST_ENVIRONMENT: Environment = {
  implementation_name: "cpython",
  implementation_version: "3.12.0",
  os_name: "posix",
  platform_machine: "wasm32",
  platform_python_implementation: "CPython",
  platform_release: "",
  platform_system: "wasi",
  platform_version: "",
  python_full_version: "3.12.0",
  python_version: "3.12",
  sys_platform: "wasi",
};

/** A condition on the environment, such as `python_version < "3.8" and extra == "test"`. */
export type Marker =
  | { readonly kind: "and" | "or"; readonly parts: readonly Marker[] }
  | { readonly kind: "compare"; readonly left: Operand; readonly operator: string; readonly right: Operand };

type Operand = { readonly kind: "name" | "text"; readonly value: string };

const MAX_LENGTH = 2_000;
const MAX_DEPTH = 16;
const TOKEN = /\s*(?:(\(|\))|(===|~=|==|!=|<=|>=|<|>)|"([^"]*)"|'([^']*)'|([A-Za-z_][A-Za-z0-9_.]*))/y;

type Token = { readonly kind: "sign" | "operator" | "text" | "word"; readonly value: string };

/** Reads a marker; a name that PEP 508 does not know is an error, because it may hide a dependency. */
export function parseMarker(text: string): Marker {
  const reader = new MarkerReader(tokensOf(text), text);
  return reader.readAll();
}

/** Whether a marker holds in an environment, for at least one of the extras that were asked for. */
export function holds(marker: Marker, environment: Environment, extras: readonly string[]): boolean {
  return ["", ...extras].some((extra) => evaluate(marker, { ...environment, extra }));
}

function tokensOf(text: string): readonly Token[] {
  if (text.length > MAX_LENGTH) throw unreadable(text);
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text);
    if (match === null) throw unreadable(text);
    const [, sign, operator, double, single, word] = match;
    if (sign !== undefined) tokens.push({ kind: "sign", value: sign });
    else if (operator !== undefined) tokens.push({ kind: "operator", value: operator });
    else if (word !== undefined) tokens.push({ kind: "word", value: word });
    else tokens.push({ kind: "text", value: double ?? single ?? "" });
  }
  return tokens;
}

function unreadable(text: string): PackageError {
  return new PackageError("package_refused", `the marker ${show(text)} is not written as PEP 508 wants it`);
}

class MarkerReader {
  readonly #tokens: readonly Token[];
  readonly #text: string;
  #next = 0;

  constructor(tokens: readonly Token[], text: string) {
    this.#tokens = tokens;
    this.#text = text;
  }

  readAll(): Marker {
    const marker = this.#readAny("or", 0);
    if (this.#next < this.#tokens.length) throw unreadable(this.#text);
    return marker;
  }

  #readAny(kind: "and" | "or", depth: number): Marker {
    const parts: Marker[] = [];
    do {
      parts.push(kind === "or" ? this.#readAny("and", depth) : this.#readOne(depth));
    } while (this.#take("word", kind));
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind, parts };
  }

  #readOne(depth: number): Marker {
    if (depth > MAX_DEPTH) throw unreadable(this.#text);
    if (this.#take("sign", "(")) {
      const inner = this.#readAny("or", depth + 1);
      if (!this.#take("sign", ")")) throw unreadable(this.#text);
      return inner;
    }
    return { kind: "compare", left: this.#readOperand(), operator: this.#readOperator(), right: this.#readOperand() };
  }

  #readOperand(): Operand {
    const token = this.#tokens[this.#next++];
    if (token?.kind === "text") return { kind: "text", value: token.value };
    const value = token?.value.replace(".", "_");
    const known = value === "extra" || (value !== undefined && Object.hasOwn(GUEST_ENVIRONMENT, value));
    if (token?.kind !== "word" || value === undefined || !known) throw unreadable(this.#text);
    return { kind: "name", value };
  }

  #readOperator(): string {
    const token = this.#tokens[this.#next++];
    if (token?.kind === "operator") return token.value;
    if (token?.kind === "word" && token.value === "in") return "in";
    if (token?.kind === "word" && token.value === "not" && this.#take("word", "in")) return "not in";
    throw unreadable(this.#text);
  }

  #take(kind: Token["kind"], value: string): boolean {
    const token = this.#tokens[this.#next];
    if (token?.kind !== kind || token.value !== value) return false;
    this.#next++;
    return true;
  }
}

function evaluate(marker: Marker, environment: Environment): boolean {
  switch (marker.kind) {
    case "and":
      return marker.parts.every((part) => evaluate(part, environment));
    case "or":
      return marker.parts.some((part) => evaluate(part, environment));
    case "compare":
      return compare(marker.left, marker.operator, marker.right, environment);
  }
}

function compare(left: Operand, operator: string, right: Operand, environment: Environment): boolean {
  const isExtra = [left, right].some(({ kind, value }) => kind === "name" && value === "extra");
  const a = textOf(left, environment, isExtra);
  const b = textOf(right, environment, isExtra);
  if (operator === "in") return b.includes(a);
  if (operator === "not in") return !b.includes(a);
  const specifiers = isExtra ? null : specifiersOf(operator, b);
  const version = specifiers === null ? null : parseVersion(a);
  if (specifiers !== null && version !== null) return meets(version, specifiers);
  return compareTexts(a, operator, b);
}

function textOf({ kind, value }: Operand, environment: Environment, isExtra: boolean): string {
  const found = kind === "text" ? value : (environment[value] ?? "");
  return isExtra && isName(found) ? normalizeName(found) : found;
}

/** Null when the right side is no version; then PEP 508 compares both as texts. */
function specifiersOf(operator: string, value: string): Specifiers | null {
  try {
    return parseSpecifiers(`${operator}${value}`);
  } catch {
    return null;
  }
}

function compareTexts(a: string, operator: string, b: string): boolean {
  switch (operator) {
    case "==":
    case "===":
      return a === b;
    case "!=":
      return a !== b;
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
    default:
      return false;
  }
}
