import { cutText } from "./cut-text.js";
import { type Encoding, encodingOf } from "./encoding.js";

/** The texts of a request, and how many tokens at most come on top of them. */
export interface Texts {
  readonly pieces: readonly string[];
  readonly around: number;
}

/** What is used of a tokenizer: the count of a text in which nothing has a special meaning. */
export interface Tokenizer {
  count(text: string): number;
  /** Forgets what it keeps in order to be faster. */
  forget(): void;
}

/** Texts that are larger in all are not counted: it would take longer than it is worth. */
const MOST_CHARACTERS = 65_536;
/** What a tokenizer may work for one request, in bytes of ordinary text. Beyond it, bytes count as tokens. */
const MOST_WORK = 65_536;
/** A longer stretch without a place to cut is not for the tokenizer, which takes quadratic time over it. */
const LONGEST_STRETCH = 512;
/** Stretches of this many bytes are seldom words that the tokenizer just looks up. */
const LONG_WORD = 48;
const LONG_WORD_FACTOR = 8;
/** How much goes to the tokenizer at once, because each time costs something too. */
const LONGEST_PART = 4096;
/** Prose, code and JSON have a token for every three bytes or more; random characters have one for every two. */
const MOST_TOKENS_PER_BYTE = 0.4;
const TRIAL_BYTES = 8192;
/** What the tokenizer has merged it keeps, hostile texts too; after so many bytes it has to forget them. */
const MOST_KEPT_BYTES = 1_048_576;

/**
 * Bounds the tokens of texts by the tokenizer of the model's own provider: never fewer than there are, and for ordinary texts not
 * one more. Null when there is no tokenizer for the model, when it is not installed, or when the texts are too large: then their
 * bytes count.
 */
export async function boundByTokenizer(texts: Texts, model: string): Promise<number | null> {
  return tokenizers.bound(texts, model);
}

/** Loads tokenizers when they are first needed, and holds them to a bounded effort. */
export class Tokenizers {
  private readonly load: (encoding: Encoding) => Promise<Tokenizer>;
  private readonly loaded = new Map<Encoding, Promise<Tokenizer | null>>();
  private kept_bytes = 0;

  constructor(load: (encoding: Encoding) => Promise<Tokenizer> = loadTokenizer) {
    this.load = load;
  }

  async bound({ pieces, around }: Texts, model: string): Promise<number | null> {
    const encoding = encodingOf(model);
    if (encoding === null) return null;
    let characters = 0;
    for (const { length } of pieces) characters += length;
    if (characters > MOST_CHARACTERS) return null;
    const tokenizer = await this.tokenizerFor(encoding);
    if (tokenizer === null) return null;
    const tokens = around + countParts(partsOf(pieces), tokenizer);
    this.forgetSometimes(tokenizer, characters);
    return tokens;
  }

  private tokenizerFor(encoding: Encoding): Promise<Tokenizer | null> {
    const known = this.loaded.get(encoding);
    if (known !== undefined) return known;
    // Whoever has not installed it does without.
    const loading = this.load(encoding).catch(() => null);
    this.loaded.set(encoding, loading);
    return loading;
  }

  private forgetSometimes(tokenizer: Tokenizer, characters: number): void {
    this.kept_bytes += characters;
    if (this.kept_bytes < MOST_KEPT_BYTES) return;
    this.kept_bytes = 0;
    tokenizer.forget();
  }
}

const tokenizers = new Tokenizers();

/** Counts with the tokenizer as long as that pays: texts that are hard work for it have nearly as many tokens as bytes. */
function countParts(parts: Iterable<Part>, tokenizer: Tokenizer): number {
  let uncounted = 0;
  let tried = 0;
  let tokens = 0;
  for (const { text, countable } of parts) {
    const bytes = Buffer.byteLength(text);
    const pays = tried < TRIAL_BYTES || tokens <= tried * MOST_TOKENS_PER_BYTE;
    if (countable && pays) {
      tried += bytes;
      tokens += tokenizer.count(text);
    } else {
      uncounted += bytes;
    }
  }
  return tokens + uncounted;
}

interface Part {
  readonly text: string;
  /** Whether it is for the tokenizer; else its bytes count. */
  readonly countable: boolean;
}

/** Puts stretches together again as far as one call of the tokenizer should go, and sorts out what is not for it. */
function* partsOf(pieces: readonly string[]): Generator<Part> {
  let work = 0;
  for (const piece of pieces) {
    let text = "";
    for (const stretch of cutText(piece)) {
      const bytes = Buffer.byteLength(stretch);
      work += bytes > LONG_WORD ? bytes * LONG_WORD_FACTOR : bytes;
      const countable = stretch.length <= LONGEST_STRETCH && work <= MOST_WORK;
      if (!countable) yield { text: stretch, countable };
      if (text !== "" && (!countable || text.length + stretch.length > LONGEST_PART)) {
        yield { text, countable: true };
        text = "";
      }
      if (countable) text += stretch;
    }
    if (text !== "") yield { text, countable: true };
  }
}

/** The texts come from strangers: a marker such as `<|endoftext|>` in them is a text like any other. */
const PLAIN = { disallowedSpecial: new Set<string>() };

async function loadTokenizer(encoding: Encoding): Promise<Tokenizer> {
  const { countTokens, clearMergeCache } =
    encoding === "o200k"
      ? await import("gpt-tokenizer/encoding/o200k_base")
      : await import("gpt-tokenizer/encoding/cl100k_base");
  return { count: (text) => countTokens(text, PLAIN), forget: clearMergeCache };
}
