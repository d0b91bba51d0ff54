import { Composer, type CST, isAlias, isMap, isScalar, isSeq, type Node, Parser, type YAMLError } from "yaml";
import { type Field, type Member, pathOf } from "./field.js";
import type { Reading } from "./reading.js";
import type { Source } from "./source.js";

/** Deeper than any configuration is, and far from where the composer, which calls itself, would end the process. */
const MOST_DEPTH = 32;
const MOST_TOKENS = 100_000;

const OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  prettyErrors: false,
  stringKeys: true,
  // Its own check compares every key with every other; ours looks it up.
  uniqueKeys: false,
  logLevel: "silent",
} as const;

/** What the parser says less clearly than it could. */
const COMPLAINTS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "a tab cannot indent; use spaces",
  BAD_INDENT: "the indentation does not fit; keys of one mapping begin in the same column, and brackets are closed",
  BLOCK_AS_IMPLICIT_KEY: "there are two keys in one line; begin a new line, or put the value in quotes",
  NON_STRING_KEY: "a key must be a word",
  RESOURCE_EXHAUSTION: "it is nested too deeply",
};

/**
 * Reads YAML into fields. Only the plain part of the language is allowed: no anchors and aliases (which can grow a small file
 * into a huge one, and `extends` does what they are for), no tags, no directives, one document.
 */
export function readYaml(source: Source, reading: Reading): Field | null {
  const tokens = tokensOf(source, reading);
  if (tokens === null) return null;
  const [document, second] = new Composer(OPTIONS).compose(tokens, false, source.text.length);
  if (document === undefined) return null;
  for (const error of [...document.errors, ...document.warnings]) complain(error, source, reading);
  if (second !== undefined) {
    const about = { path: "", place: source.placeOf(second.range[0]) };
    reading.report(about, "there is a second document; a configuration is one");
  }
  // What a broken text might have meant would only be guessed at.
  if (document.errors.length > 0 || document.contents === null) return null;
  const root = new Converter(source, reading).convert(document.contents, "");
  // A file that says nothing is no mistake.
  return root.kind === "empty" ? null : root;
}

function tokensOf(source: Source, reading: Reading): readonly CST.Token[] | null {
  const tokens: CST.Token[] = [];
  for (const token of new Parser().parse(source.text)) {
    if (token.type === "directive") {
      reading.report({ path: "", place: source.placeOf(token.offset) }, "directives are not allowed; leave it out");
      return null;
    }
    tokens.push(token);
  }
  const excess = excessIn(tokens);
  if (excess === null) return tokens;
  reading.report({ path: "", place: source.placeOf(excess.offset) }, excess.complaint);
  return null;
}

/** Looks for what is too deep or too much, without calling itself. */
function excessIn(tokens: readonly CST.Token[]): { offset: number; complaint: string } | null {
  const open = tokens.map((token) => ({ token, depth: 0 }));
  for (let count = 0; ; count++) {
    const next = open.pop();
    if (next === undefined) return null;
    const { token, depth } = next;
    const { offset } = token;
    if (depth > MOST_DEPTH) return { offset, complaint: `it is nested more than ${MOST_DEPTH} levels deep` };
    if (count > MOST_TOKENS)
      return { offset, complaint: `there are more than ${MOST_TOKENS} values; use several files` };
    for (const inner of within(token)) open.push({ token: inner, depth: depth + 1 });
  }
}

function within(token: CST.Token): readonly CST.Token[] {
  if (token.type === "document") return token.value === undefined ? [] : [token.value];
  if (!("items" in token)) return [];
  return token.items.flatMap(({ key, value }) => [key, value].filter((each) => each !== undefined && each !== null));
}

function complain({ code, message, pos }: YAMLError, source: Source, reading: Reading): void {
  const told = COMPLAINTS[code] ?? `it is not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  reading.report({ path: "", place: source.placeOf(pos[0]) }, told);
}

/** Turns nodes into fields. Its depth is bounded, because that of the tokens was. */
class Converter {
  private readonly source: Source;
  private readonly reading: Reading;

  constructor(source: Source, reading: Reading) {
    this.source = source;
    this.reading = reading;
  }

  convert(node: Node, path: string): Field {
    const place = this.source.placeOf(node.range?.[0] ?? 0);
    const about = { path, place };
    this.refuseExtras(node, about);
    if (isMap<Node, Node | null>(node)) return { kind: "map", ...about, members: this.members(node.items, path) };
    if (isSeq<Node>(node)) {
      const items = node.items.map((item, index) => this.convert(item, `${path}[${index}]`));
      return { kind: "list", ...about, items };
    }
    if (!isScalar(node)) return { kind: "empty", ...about };
    const { value, source: written = "" } = node;
    if (value === null && written === "") return { kind: "empty", ...about };
    if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      return { kind: "scalar", ...about, value, written };
    }
    this.reading.report(about, "is no text, number, true, false or null");
    return { kind: "empty", ...about };
  }

  private refuseExtras(node: Node, about: { path: string; place: Field["place"] }): void {
    if (isAlias(node) || node.anchor !== undefined) {
      this.reading.report(about, "uses an anchor or an alias, which are not allowed; policies can use extends");
    } else if (node.tag !== undefined) {
      this.reading.report(about, "has a tag, which is not allowed; leave it out");
    }
  }

  private members(items: readonly { key: Node; value: Node | null }[], path: string): readonly Member[] {
    const seen = new Map<string, Member>();
    for (const { key, value } of items) {
      const name = isScalar(key) ? String(key.value ?? key.source ?? "") : "";
      const place = this.source.placeOf(key.range?.[0] ?? 0);
      const inner = pathOf(path, name);
      this.refuseExtras(key, { path: inner, place });
      const earlier = seen.get(name);
      if (earlier !== undefined) {
        this.reading.report(
          { path: inner, place },
          `is there already, in line ${earlier.place?.line}; keep one of them`,
        );
        continue;
      }
      const field: Field = value === null ? { kind: "empty", path: inner, place } : this.convert(value, inner);
      seen.set(name, { key: name, place, value: field });
    }
    return [...seen.values()];
  }
}
