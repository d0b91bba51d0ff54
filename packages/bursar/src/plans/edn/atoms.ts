import type { Position } from "../plan-error.js";
import type { Source } from "../source.js";
import type { Form } from "./form.js";
import { CHARACTERS } from "./print.js";

/** One part of a name, before or behind its slash. */
const PART = /^(?:[A-Za-z*!_?$%&=<>]|[.+-](?!\d))[A-Za-z0-9.*+!\-_?$%&=<>:#]*$/;
const NUMBER = /^[+-]?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const LONGEST_NAME = 200;

/** A form that is one word: a number, a name, a keyword, nil, true or false. */
export function readWord(word: string, position: Position, source: Source): Form {
  if (word === "nil") return { kind: "nil", ...position };
  if (word === "true" || word === "false") return { kind: "boolean", value: word === "true", ...position };
  if (/^[+-]?\d/.test(word)) return { kind: "number", value: numberOf(word, position, source), ...position };
  if (word.startsWith(":")) return { kind: "keyword", name: keywordOf(word, position, source), ...position };
  if (!isName(word)) throw source.error(position, `${shown(word)} is not a name`, hintForName(word));
  return { kind: "symbol", name: word, ...position };
}

/** A character, from what stands behind its backslash. */
export function readCharacter(word: string, position: Position, source: Source): Form {
  const named = Object.hasOwn(CHARACTERS, word) ? CHARACTERS[word] : undefined;
  const coded = /^u[0-9a-fA-F]{4}$/.test(word) ? String.fromCharCode(Number.parseInt(word.slice(1), 16)) : undefined;
  const value = named ?? coded ?? word;
  if (/\p{Cs}/u.test(value))
    throw source.error(position, `\\${word} is half a character`, "write the character itself");
  if ([...value].length !== 1) {
    const names = Object.keys(CHARACTERS).join(", ");
    throw source.error(
      position,
      `${shown(`\\${word}`)} is not a character`,
      `give one character, four hexadecimal digits such as \\u0041, or one of ${names}`,
    );
  }
  return { kind: "character", value, ...position };
}

function isName(word: string): boolean {
  if (word === "/") return true;
  const parts = word.split("/");
  return parts.length <= 2 && word.length <= LONGEST_NAME && parts.every((part) => PART.test(part));
}

function keywordOf(word: string, position: Position, source: Source): string {
  const name = word.slice(1);
  if (name !== "/" && isName(name)) return name;
  const hint = name.startsWith(":") ? "one colon is enough" : 'as a key of a map, a text such as "1st" can be anything';
  throw source.error(position, `${shown(word)} is not a keyword`, hint);
}

function numberOf(word: string, position: Position, source: Source): number {
  const match = NUMBER.exec(word);
  if (match === null) throw source.error(position, `${shown(word)} is not a number`, hintForNumber(word));
  const value = Number(word);
  const isWhole = match[1] === undefined && match[2] === undefined;
  if (isWhole && !Number.isSafeInteger(value)) {
    const most = Number.MAX_SAFE_INTEGER;
    throw source.error(
      position,
      `${shown(word)} is too large to be exact`,
      `whole numbers go from -${most} to ${most}`,
    );
  }
  if (!Number.isFinite(value)) throw source.error(position, `${shown(word)} is too large`, "numbers go up to 1.79e308");
  if (value === 0 && /[1-9]/.test(word.replace(/[eE].*/, ""))) {
    throw source.error(position, `${shown(word)} is too small`, "numbers go down to 4.94e-324; write 0 for none");
  }
  // Adding zero turns -0 into 0: there is one zero.
  return value + 0;
}

function hintForNumber(word: string): string {
  if (/^[+-]?\d+(?:\.\d+)?[NM]$/.test(word)) return `write ${word.slice(0, -1)}: there is one kind of number`;
  const [, above, below] = /^([+-]?\d+)\/(\d+)$/.exec(word) ?? [];
  if (above !== undefined) return `write (/ ${above} ${below})`;
  if (/^[+-]?\d[\d_]*$/.test(word) && word.includes("_")) return `write ${word.replaceAll("_", "")}`;
  if (/^[+-]?0\d+$/.test(word)) return "leave out the zeros in front";
  if (/^[+-]?\d+\.$/.test(word)) return `write ${word}0`;
  return "numbers look like 42, -7, 0.5 or 1e6; a name cannot begin with a digit";
}

function hintForName(word: string): string | null {
  if (word.split("/").length > 2) return "a name has at most one slash";
  if (word.length > LONGEST_NAME) return `names have at most ${LONGEST_NAME} characters`;
  if (/^[^:]*[,;]/.test(word)) return null;
  return "names are made of the letters a to z, digits, and any of . * + ! - _ ? $ % & = < >";
}

function shown(word: string): string {
  const characters = [...word];
  return characters.length > 40 ? `${characters.slice(0, 40).join("")}…` : word;
}
