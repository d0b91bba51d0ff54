import { createHash } from "node:crypto";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { type Heard, type Reading, readCount } from "./request.js";
import { tokensOf } from "./tokens.js";
import { usageFor } from "./usage.js";
import type { Wire, Writable } from "./wire.js";

/** OpenAI's bounds. */
const MOST_INPUTS = 2048;
const MOST_DIMENSIONS = 3072;
/** What OpenAI's smaller model gives unless it is told otherwise. */
const DIMENSIONS = 1536;
const FORMATS: readonly Json[] = ["float", "base64"];

/** OpenAI's Embeddings, which are never streamed. */
export const embeddings: Wire = {
  protocol: "openai-embeddings",
  provider: "openai",
  read: readEmbeddings,
  body: bodyOf,
  events: () => {
    throw new Error("embeddings are not streamed");
  },
  failure: (message) => message,
};

function readEmbeddings(body: JsonObject): Reading {
  const inputs = inputsOf(body.input);
  const dimensions = readCount(body, "dimensions");
  if (dimensions !== null && dimensions > MOST_DIMENSIONS) {
    throw new InputError("dimensions", `is ${dimensions}; allowed: at most ${MOST_DIMENSIONS}`);
  }
  const { encoding_format = "float" } = body;
  if (!FORMATS.includes(encoding_format)) {
    throw new InputError("encoding_format", `is ${show(encoding_format)}; allowed: ${FORMATS.join(", ")}`);
  }
  const last = inputs.at(-1);
  const input_tokens = inputs.reduce<number>(
    (sum, each) => sum + (typeof each === "string" ? tokensOf(each) : (each as readonly Json[]).length),
    0,
  );
  return {
    messages: [],
    text: typeof last === "string" ? last : "",
    max_tokens: null,
    stream: false,
    terms: { input_tokens, answers: 1, stops: [], thinking_tokens: 0 },
  };
}

/** The things to embed: texts, or lists of tokens; one of them may come without a list around it. */
function inputsOf(input: Json | undefined): readonly Json[] {
  const inputs: readonly Json[] = Array.isArray(input) && typeof input[0] !== "number" ? input : [input ?? null];
  if (inputs.length === 0 || inputs.length > MOST_INPUTS || !inputs.every(isInput)) {
    const allowed = `a text, a list of tokens, or at most ${MOST_INPUTS} of them`;
    throw new InputError("input", `is ${show(input)}; allowed: ${allowed}`);
  }
  return inputs;
}

function isInput(value: Json): boolean {
  if (typeof value === "string") return value !== "";
  return Array.isArray(value) && value.length > 0 && value.every((each: Json) => Number.isSafeInteger(each));
}

function bodyOf(answer: Writable, { request, terms }: Heard): JsonObject {
  const inputs = inputsOf(request.body.input);
  const dimensions = readCount(request.body, "dimensions") ?? DIMENSIONS;
  const vectors = answer.kind === "embedding" ? answer.vectors : inputs.map((input) => vectorOf(input, dimensions));
  if (vectors.length !== inputs.length) {
    throw new Error(`it answers with ${vectors.length} vectors, and the request has ${inputs.length} inputs`);
  }
  const usage = usageFor(answer.usage, { input: terms.input_tokens, output: 0, reasoning: 0 }, 0);
  const written = request.body.encoding_format === "base64" ? base64Of : (vector: readonly number[]) => vector;
  return {
    object: "list",
    data: vectors.map((vector, index) => ({ object: "embedding", index, embedding: written(vector) })),
    model: request.model,
    ...(usage !== null && {
      usage: "raw" in usage ? usage.raw : { prompt_tokens: usage.input, total_tokens: usage.input },
    }),
  };
}

/** A vector of length 1 that is always the same for the same input, and another one for any other. */
function vectorOf(input: Json, dimensions: number): readonly number[] {
  const text = JSON.stringify(input);
  const numbers: number[] = [];
  for (let block = 0; numbers.length < dimensions; block++) {
    for (const byte of createHash("sha256").update(`${block}:${text}`).digest()) numbers.push(byte - 127.5);
  }
  const vector = numbers.slice(0, dimensions);
  const length = Math.hypot(...vector);
  return vector.map((each) => Math.fround(each / length));
}

/** Floats of 32 bits, the lowest byte first. */
function base64Of(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, each] of vector.entries()) bytes.writeFloatLE(each, index * 4);
  return bytes.toString("base64");
}
