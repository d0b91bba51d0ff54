import { type ParseArgsConfig, parseArgs } from "node:util";
import { nearest } from "bursar";

/** A command line that cannot be understood. Nothing was done. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The values of the options that were given. */
type Values<O extends Options> = {
  readonly [Name in keyof O]?: O[Name]["type"] extends "boolean" ? true : string;
};

/** Reads the flags of a command that takes nothing else, and offers the nearest name for one it does not know. */
export function readFlags<const O extends Options>(args: readonly string[], options: O): Values<O> {
  const config = { args: [...args], options, strict: false, allowPositionals: true, tokens: true } as const;
  const { values, tokens } = parseArgs(config);
  for (const token of tokens) {
    if (token.kind === "positional") throw new UsageError(`"${token.value}" is not expected here`);
    if (token.kind === "option") check(token, options);
  }
  return values as Values<O>;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
}

function check({ name, rawName, value }: OptionToken, options: Options): void {
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) throw new UsageError(unknown(`the flag ${rawName}`, rawName, flagNames(options)));
  if (option.type === "boolean" && value !== undefined) throw new UsageError(`${rawName} takes no value`);
  if (option.type === "string" && (value === undefined || value === ""))
    throw new UsageError(`${rawName} needs a value`);
}

/** What to say of a word that is not known. */
export function unknown(subject: string, word: string, known: readonly string[]): string {
  const guess = nearest(word, known);
  const hint = guess === null ? `known: ${known.join(", ")}` : `did you mean ${guess}?`;
  return `${subject} is not known; ${hint}`;
}

function flagNames(options: Options): readonly string[] {
  return Object.keys(options).map((name) => `--${name}`);
}
