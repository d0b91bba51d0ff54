/** The member of an error that names its class and the classes above it, for other copies of Bursar in the process. */
const CLASSES = Symbol.for("bursar.error.1");

/**
 * The base of every error Bursar throws on purpose; `code` is stable, the message is for people. `instanceof` also holds for an
 * error of another copy of Bursar: the command line has one of its own beside that of the modules it loads.
 */
export class BursarError extends Error {
  override readonly name: string = "BursarError";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, CLASSES, { value: classNames(new.target) });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore-start lint/complexity/noThisInStatic: it is called for the classes below this one too.
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    if (typeof value !== "object" || value === null) return false;
    const { [CLASSES]: classes } = value as { readonly [CLASSES]?: unknown };
    return typeof classes === "string" && classes.endsWith(classNames(this));
    // biome-ignore-end lint/complexity/noThisInStatic: as above
  }
}

/** The name of a class and those of the classes above it: `/InputError/BursarError`. */
function classNames(type: object): string {
  let names = "";
  for (let each: unknown = type; typeof each === "function" && each !== Error; each = Object.getPrototypeOf(each)) {
    names += `/${each.name}`;
  }
  return names;
}

/** Input that cannot be used. Nothing was changed; `field` says which value to mend and the message what is allowed. */
export class InputError extends BursarError {
  override readonly name: string = "InputError";
  readonly field: string;

  constructor(field: string, problem: string) {
    super("invalid_input", `${field} ${problem}`);
    this.field = field;
  }
}

/** A call to the ledger that makes no sense in its present state, such as a commit to a budget that has ended. */
export class LedgerError extends BursarError {
  override readonly name: string = "LedgerError";

  constructor(message: string) {
    super("ledger_state", message);
  }
}

/** A short, safe picture of any value for an error message: values can be huge, cyclic or hostile. */
export function show(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return `${value}n`;
    case "boolean":
    case "undefined":
      return String(value);
    case "object":
      return value === null ? "null" : Array.isArray(value) ? "an array" : "an object";
    default:
      return `a ${typeof value}`;
  }
}
