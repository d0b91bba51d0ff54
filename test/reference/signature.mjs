/** A declaration as a reader needs it: without `export declare`, and without what is private. */
export function signatureOf({ module, nodes }) {
  return nodes.map(({ node }) => printed(module, node)).join("\n");
}

function printed(module, node) {
  const hidden = node.type === "ClassDeclaration" ? node.body.body.filter(isPrivate) : [];
  let text = "";
  let at = node.start;
  for (const member of hidden) {
    text += module.text.slice(at, beginOf(module, member)).trimEnd();
    at = member.end;
  }
  text += module.text.slice(at, node.end);
  return text
    .replace(/^declare /, "")
    .replaceAll(/^ {4}/gm, "  ")
    .replaceAll(/^( {2}) {4}/gm, "$1  ");
}

function isPrivate({ accessibility, key }) {
  return accessibility === "private" || key?.type === "PrivateIdentifier";
}

/** Where a member begins, with the comment above it. */
function beginOf({ text, comments }, { start }) {
  const above = comments.find(({ end }) => end <= start && text.slice(end, start).trim() === "");
  return above?.start ?? start;
}

/** What kind of thing is declared, for people. */
export function kindOf({ nodes }) {
  switch (nodes[0].node.type) {
    case "ClassDeclaration":
      return "class";
    case "FunctionDeclaration":
    case "TSDeclareFunction":
      return "function";
    case "VariableDeclaration":
      return "value";
    default:
      return "type";
  }
}
