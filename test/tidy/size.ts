import type { Node } from "oxc-parser";
import { lineAt, placeOf, type Source, type Visit } from "./source.js";

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 60;

/** Files nobody reads to the end. */
export function findLongFiles({ file, text }: Source): readonly string[] {
  const lines = text.trimEnd().split("\n").length;
  if (lines <= MAX_FILE_LINES) return [];
  return [
    `${file}:${MAX_FILE_LINES} the file goes on to line ${lines}; split it by concept, at most ${MAX_FILE_LINES} lines each`,
  ];
}

/** Functions nobody keeps in their head. A `describe` is a list of tests, and is measured as those. */
export function findLongFunctions(source: Source): readonly string[] {
  return source.nodes.flatMap((visit) => {
    if (!isFunction(visit.node) || isGroupOfTests(visit)) return [];
    const { start, end } = visit.node;
    const lines = lineAt(source.text, end) - lineAt(source.text, start) + 1;
    if (lines <= MAX_FUNCTION_LINES) return [];
    return [
      `${placeOf(source, visit.node)} is a function of ${lines} lines; split it, at most ${MAX_FUNCTION_LINES} each`,
    ];
  });
}

function isFunction({ type }: Node): boolean {
  return type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";
}

/** `describe(…, () => {})`, `describe.for(…)(…, () => {})` and the like. */
function isGroupOfTests({ parent, part }: Visit): boolean {
  if (parent?.node.type !== "CallExpression" || part !== "arguments") return false;
  let callee: Node = parent.node.callee;
  while (callee.type === "CallExpression" || callee.type === "MemberExpression") {
    callee = callee.type === "CallExpression" ? callee.callee : callee.object;
  }
  return callee.type === "Identifier" && callee.name === "describe";
}
