import { exportedNames, findDeclaration } from "./declarations.mjs";
import { docOf, sentenceOf } from "./doc-comment.mjs";
import { kindOf, signatureOf } from "./signature.mjs";

const KINDS = ["function", "class", "value", "type"];
const TITLES = { function: "Functions", class: "Classes", value: "Values", type: "Types" };

/** A page for each entry. What two of them export is told in the first, and linked from the others. */
export function entryPages(entries) {
  const told = new Map();
  return entries.map((entry) => {
    const items = exportedNames(entry.types).map((name) => itemOf(entry, name, told));
    const first = items.find(
      ({ kind, name, doc }) => /function|class/.test(kind) && !name.endsWith("Error") && doc.text !== "",
    );
    const about = entry.about === "" ? sentenceOf(first?.doc.text ?? "") : entry.about;
    return { file: fileOf(entry.name), title: `\`${entry.name}\``, about, text: pageOf(entry.name, about, items) };
  });
}

function fileOf(name) {
  return `${name.replace(/^@/, "").replaceAll("/", "-")}.md`;
}

function itemOf(entry, name, told) {
  const found = findDeclaration(entry.types, name);
  const key = `${found.module.file}#${found.name}`;
  const before = told.get(key) ?? null;
  if (before === null) told.set(key, { entry: entry.name, name });
  return { name, before, kind: kindOf(found), doc: docOf(found), signature: signatureOf(found) };
}

function pageOf(name, about, items) {
  const parts = KINDS.flatMap((kind) => {
    const some = items.filter((item) => item.kind === kind);
    return some.length === 0 ? [] : [`## ${TITLES[kind]}`, ...some.map(print)];
  });
  const used = items.length === 0 ? `import "${name}";` : `import { … } from "${name}";`;
  const none = items.length === 0 ? ["It exports nothing: to import it is to use it."] : [];
  return `${[`# ${name}`, about, `\`${used}\``, ...none, ...overview(items), ...parts].filter(Boolean).join("\n\n")}\n`;
}

function overview(items) {
  const shown = items.filter(({ kind, before }) => kind !== "type" && before === null);
  if (shown.length < 2) return [];
  const rows = shown.map(({ name, doc }) => `| [\`${name}\`](#${name.toLowerCase()}) | ${sentenceOf(doc.text)} |`);
  return [["| | |", "|---|---|", ...rows].join("\n")];
}

function print({ name, before, doc, signature }) {
  const title = `### ${name}`;
  if (before !== null) {
    const link = `${fileOf(before.entry)}#${before.name.toLowerCase()}`;
    return `${title}\n\nThe same as [\`${before.name}\` of \`${before.entry}\`](${link}).`;
  }
  const throws = doc.throws.map((each) => `Throws ${each.replace(/^\{(\w+)\}/, "`$1`")}`);
  const parts = [title, doc.text, `\`\`\`ts\n${signature}\n\`\`\``, ...doc.examples, ...throws];
  return parts.filter((part) => part !== "").join("\n\n");
}
