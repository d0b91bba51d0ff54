import { PURE, WAITING } from "./rooms.js";
import { placeOf, type Source, type Visit } from "./source.js";

/** Globals through which time, chance or the outside world would come in unasked. */
const IMPURE: ReadonlySet<string> = new Set([
  "Buffer",
  "Date",
  "Intl",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "globalThis",
  "performance",
  "process",
  "queueMicrotask",
  "setImmediate",
  "setInterval",
  "setTimeout",
]);

/** Clocks, randomness and I/O in a folder of pure decisions. */
export function findImpurity(source: Source): readonly string[] {
  if (!isIn(PURE, source.file)) return [];
  return source.nodes.flatMap((visit) => {
    const name = impureName(visit);
    return name === null
      ? []
      : [`${placeOf(source, visit.node)} uses ${name}; decisions are pure, so take it as an argument`];
  });
}

/** Waiting in a folder of pure decisions: an answer that comes later is an answer about something else. */
export function findWaiting(source: Source): readonly string[] {
  if (!isIn(PURE, source.file) || isIn(WAITING, source.file)) return [];
  return source.nodes.flatMap(({ node }) => {
    const waits =
      node.type === "AwaitExpression" ||
      (node.type === "ForOfStatement" && node.await) ||
      (node.type === "VariableDeclaration" && node.kind === "await using");
    return waits
      ? [`${placeOf(source, node)} awaits; decisions are pure, so await in the runtime and pass the result in`]
      : [];
  });
}

function impureName({ node, parent, part }: Visit): string | null {
  if (node.type === "MemberExpression") {
    const { object, property } = node;
    const random = object.type === "Identifier" && object.name === "Math" && property.type === "Identifier";
    return random && property.name === "random" ? "Math.random" : null;
  }
  if (node.type !== "Identifier" || !IMPURE.has(node.name)) return null;
  const named = part === "property" || part === "key";
  const computed = parent !== null && "computed" in parent.node && parent.node.computed;
  return (named && !computed) || part === "typeName" ? null : node.name;
}

function isIn(folders: readonly string[], file: string): boolean {
  return folders.some((folder) => file.startsWith(folder));
}
