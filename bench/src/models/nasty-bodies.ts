const SIZE = 1_000_000;

function chat(content: unknown): string {
  return JSON.stringify({ model: "gpt-4o", max_tokens: 100, messages: [{ role: "user", content }] });
}

/** Prompts of about a megabyte that are slow to read, to count or to cut. */
export const NASTY_BODIES: Readonly<Record<string, string>> = {
  "plain text": chat("All work and no play. ".repeat(SIZE / 22)),
  spaces: chat(" ".repeat(SIZE)),
  "one letter": chat("a".repeat(SIZE)),
  digits: chat("1234567890".repeat(SIZE / 10)),
  "three bytes each": chat("漢".repeat(SIZE / 3)),
  "pairs of surrogates": chat("\u{1f600}".repeat(SIZE / 4)),
  escapes: `{"model":"gpt-4o","max_tokens":100,"messages":[{"role":"user","content":"${"\\u0000".repeat(SIZE / 6)}"}]}`,
  "many parts": chat(Array.from({ length: SIZE / 30 }, () => ({ type: "text", text: "x" }))),
  "many messages": JSON.stringify({
    ...{ model: "gpt-4o", max_tokens: 100 },
    messages: Array.from({ length: SIZE / 32 }, () => ({ role: "user", content: "x" })),
  }),
  "deep nesting": `{"model":"gpt-4o","messages":${"[".repeat(SIZE / 2)}${"]".repeat(SIZE / 2)}}`,
  "many fields": JSON.stringify({
    ...{ model: "gpt-4o", messages: [{ role: "user", content: "x" }] },
    metadata: Object.fromEntries(Array.from({ length: SIZE / 20 }, (_, index) => [`key${index}`, "v"])),
  }),
};
