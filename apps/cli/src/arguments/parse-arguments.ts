import { type ParseArgsConfig, parseArgs } from "node:util";
import { shown, UsageError, unknown } from "../app/errors.js";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The values of the options that were given. */
type Values<O extends Options> = {
  readonly [Name in keyof O]?: O[Name]["type"] extends "boolean" ? true : string;
};

/** Reads the flags of a command that takes nothing else, and offers the nearest name for one it does not know. */
export function readFlags<const O extends Options>(args: readonly string[], options: O): Values<O> {
  return readArguments(args, options, 0).flags;
}

/** The URL of a store, or what somebody takes for one. */
const STORE_URL = /^(sqlite|postgres|postgresql|memory):/i;

/** The same for a command that takes up to so many words beside its flags. */
export function readArguments<const O extends Options>(
  args: readonly string[],
  options: O,
  most: number,
): { readonly flags: Values<O>; readonly words: readonly string[] } {
  const config = { args: [...args], options, strict: false, allowPositionals: true, tokens: true } as const;
  const { values, tokens } = parseArgs(config);
  const words: string[] = [];
  const given = new Map<string, string | undefined>();
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    check(token, options);
    checkOnce(token, options, given);
  }
  const url = words.find(isStoreUrl);
  const unexpected = url ?? words[most];
  if (unexpected !== undefined)
    throw new UsageError(`"${shown(unexpected)}" is not expected here${forgotten(url, options)}`);
  return { flags: values as Values<O>, words };
}

function isStoreUrl(word: string): boolean {
  return STORE_URL.test(word);
}

function forgotten(url: string | undefined, options: Options): string {
  return url !== undefined && Object.hasOwn(options, "store") ? "; did you forget --store?" : "";
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  /** Whether it was written as `--name=value`. */
  readonly inlineValue: boolean | undefined;
}

function check({ name, rawName, value, inlineValue }: OptionToken, options: Options): void {
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) throw new UsageError(unknown(`the flag ${rawName}`, rawName, flagNames(options)));
  if (option.type === "boolean" && value !== undefined) throw new UsageError(`${rawName} takes no value`);
  if (option.type === "string" && (value === undefined || value === ""))
    throw new UsageError(`${rawName} needs a value`);
  if (option.type === "string" && inlineValue !== true && flagNames(options).includes(value ?? ""))
    throw new UsageError(`${rawName} needs a value, and ${value} is a flag; or write ${rawName}=${value}`);
  if (name !== "store" && value !== undefined && isStoreUrl(value))
    throw new UsageError(`${rawName} is the URL of a store; did you mean --store?`);
}

/** Refuses a flag that says two things: the first of two limits would be dropped without a word. */
function checkOnce(
  { name, rawName, value }: OptionToken,
  options: Options,
  given: Map<string, string | undefined>,
): void {
  if (options[name]?.multiple === true) return;
  if (given.has(name) && given.get(name) !== value) {
    throw new UsageError(
      `${rawName} is given twice; give it once${value?.includes("=") ? ", with commas between" : ""}`,
    );
  }
  given.set(name, value);
}

/** What to say of a command that is not known. */
export function unknownCommand(before: string, word: string, known: readonly string[]): string {
  if (isStoreUrl(word)) return `${before}"${shown(word)}" is not known; did you forget --store?`;
  return unknown(`${before}${shown(word)}`, word, known);
}

function flagNames(options: Options): readonly string[] {
  return Object.keys(options).map((name) => `--${name}`);
}
