const SIZE = 1_000_000;

function chat(content: unknown): string {
  return JSON.stringify({ model: "gpt-4o", max_tokens: 100, messages: [{ role: "user", content }] });
}

/** As many shapes of objects as a request may have that is full of messages, and one that has nothing else. */
const SHAPES = { beside: 3000, alone: 9600 };

/** Prompts of about a megabyte that are slow to read, to count or to cut; some only when they are new, so each round has its own. */
export const NASTY_BODIES: Readonly<Record<string, string | ((round: number) => string)>> = {
  "plain text": chat("All work and no play. ".repeat(SIZE / 22)),
  spaces: chat(" ".repeat(SIZE)),
  "one letter": chat("a".repeat(SIZE)),
  digits: chat("1234567890".repeat(SIZE / 10)),
  "three bytes each": chat("漢".repeat(SIZE / 3)),
  "pairs of surrogates": chat("\u{1f600}".repeat(SIZE / 4)),
  escapes: `{"model":"gpt-4o","max_tokens":100,"messages":[{"role":"user","content":"${"\\u0000".repeat(SIZE / 6)}"}]}`,
  "many parts": chat(Array.from({ length: SIZE / 30 }, () => ({ type: "text", text: "x" }))),
  "many messages": JSON.stringify({
    model: "gpt-4o",
    max_tokens: 100,
    messages: Array.from({ length: SIZE / 32 }, () => ({ role: "user", content: "x" })),
  }),
  "deep nesting": `{"model":"gpt-4o","messages":${"[".repeat(SIZE / 2)}${"]".repeat(SIZE / 2)}}`,
  // Each object has members of its own, so that the engine makes a new shape for each.
  "many shapes": chat(
    Array.from({ length: SIZE / 1000 }, (_, part) => ({
      type: "text",
      text: "x",
      ...Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${part}_${index}`, "v"])),
    })),
  ),
  "many fields": JSON.stringify({
    model: "gpt-4o",
    messages: [{ role: "user", content: "x" }],
    metadata: Object.fromEntries(Array.from({ length: SIZE / 20 }, (_, index) => [`key${index}`, "v"])),
  }),
  "many small objects, each of its own": small(0, SIZE / 10),
  "as many shapes as are taken, then messages": (round) => small(round, SHAPES.beside - 100),
  "as many shapes as are taken, then text": (round) => small(round, SHAPES.alone - 100, 1),
};

/** So many names, ten to an object, filled up with messages: as many as there is room for, unless it is said. */
function small(round: number, names: number, count?: number): string {
  const object = (at: number) =>
    Object.fromEntries(Array.from({ length: 10 }, (_, member) => [`${(at * 10 + member).toString(36)}_${round}`, 1]));
  const metadata = Array.from({ length: names / 10 }, (_, at) => object(at));
  const left = Math.max(0, SIZE - JSON.stringify(metadata).length);
  const length = count ?? Math.ceil(left / 32);
  const content = "x".repeat(count === undefined ? 1 : Math.ceil(left / count));
  const messages = Array.from({ length }, () => ({ role: "user", content }));
  return JSON.stringify({ model: "gpt-4o", max_tokens: 100, metadata, messages });
}
