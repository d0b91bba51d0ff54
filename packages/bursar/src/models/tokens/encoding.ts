/** How a model's provider turns texts into tokens. */
export type Encoding = "o200k" | "cl100k";

const LONGEST_NAME = 256;
const CL100K = /^(?:gpt-4|gpt-3\.5-turbo|text-embedding-3-(?:small|large)|text-embedding-ada-002)(?:[-:]|$)/;
/** Newer ones, such as gpt-5.1 or gpt-6, may have the same; nobody has said so. */
const O200K = /^(?:gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|gpt-oss|chatgpt-4o|o1|o3|o4-mini)(?:[-:]|$)/;

/** The encoding of a model, if it is one of OpenAI's whose encoding is known; it may be fine-tuned, or have its provider before it. */
export function encodingOf(model: string): Encoding | null {
  if (model.length > LONGEST_NAME) return null;
  const name = model
    .toLowerCase()
    .replace(/^openai\//, "")
    .replace(/^ft:/, "");
  if (O200K.test(name)) return "o200k";
  return CL100K.test(name) ? "cl100k" : null;
}
