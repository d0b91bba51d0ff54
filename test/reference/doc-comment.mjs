/** The comment of a declaration: its text, its examples, and what it throws. */
export function docOf({ module, nodes }) {
  for (const { start } of nodes) {
    const comment = module.comments.find(
      ({ type, value, end }) =>
        type === "Block" && value.startsWith("*") && end <= start && module.text.slice(end, start).trim() === "",
    );
    if (comment !== undefined) return read(comment.value);
  }
  return { text: "", examples: [], throws: [] };
}

function read(comment) {
  const lines = comment
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""));
  const [text = "", ...tags] = lines
    .join("\n")
    .trim()
    .split(/^@(?=(?:example|throws|param|returns)\b)/m);
  const tagged = (name) => tags.filter((tag) => tag.startsWith(name)).map((tag) => tag.slice(name.length).trim());
  return { text: plain(text), examples: tagged("example"), throws: tagged("throws").map(plain) };
}

function plain(text) {
  return text.replaceAll(/\{@link ([^}]+)\}/g, "`$1`").trim();
}

/** The first sentence, for a list. */
export function sentenceOf(text) {
  const [first = ""] = /^[\s\S]*?[.:](?=\s|$)/.exec(text) ?? [text];
  return first.replaceAll("\n", " ").replace(/:$/, ".").replaceAll("|", "\\|");
}
