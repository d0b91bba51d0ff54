import { posix } from "node:path";
import type { Node } from "oxc-parser";
import type { Term } from "./glossary.js";
import { withFolders } from "./paths.js";
import { placeOf, type Source, type Visit } from "./source.js";

/** Names that may hold a synonym because somebody else chose them, each with who and why. */
export type Exceptions = Readonly<Record<string, string>>;

export const EXCEPTIONS: Exceptions = {};

/** Names declared in a source that hold a synonym from the glossary. */
export function findForeignNames(source: Source, terms: readonly Term[], exceptions: Exceptions): readonly string[] {
  const complaints = critic(terms);
  return source.nodes.flatMap((visit) => {
    const name = declaredName(visit);
    if (name === null || Object.hasOwn(exceptions, name)) return [];
    return complaints(name).map((complaint) => `${placeOf(source, visit.node)} ${complaint}`);
  });
}

/** Files and folders whose name holds a synonym from the glossary. */
export function findForeignFileNames(
  files: readonly string[],
  terms: readonly Term[],
  exceptions: Exceptions,
): readonly string[] {
  const complaints = critic(terms);
  return [...withFolders(files)].flatMap((path) => {
    const name = posix.basename(path);
    if (Object.hasOwn(exceptions, name)) return [];
    return complaints(name).map((complaint) => `${path}:1 ${complaint}`);
  });
}

/** Exceptions that nothing needs any more. */
export function findIdleExceptions(
  sources: readonly Source[],
  files: readonly string[],
  exceptions: Exceptions,
): readonly string[] {
  const names = new Set<string | null>(sources.flatMap(({ nodes }) => nodes.map(declaredName)));
  for (const path of withFolders(files)) names.add(posix.basename(path));
  const idle = Object.keys(exceptions).filter((name) => !names.has(name));
  return idle.map((name) => `test/tidy/names.ts:1 excepts ${name}, which nothing declares; drop the exception`);
}

/** `maxCost_usd` → max, cost, usd; `HTTPServer-2` → http, server, 2. */
export function wordsOf(name: string): readonly string[] {
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
  return words.map((word) => word.toLowerCase());
}

/** Gives a function that finds the synonyms in a name; an s at the end is no disguise. */
function critic(terms: readonly Term[]): (name: string) => readonly string[] {
  const ours = new Map(terms.flatMap(({ word, not }) => not.map((each) => [wordsOf(each).join(" "), word] as const)));
  const synonyms = new RegExp(` (${[...ours.keys()].join("|")})(?:e?s)?(?= )`, "g");
  return (name) => {
    const found = [...` ${wordsOf(name).join(" ")} `.matchAll(synonyms)].map((match) => match[1] ?? "");
    return found.map((synonym) => `names ${name}; we say ${ours.get(synonym)}, not ${synonym} (GLOSSARY.md)`);
  };
}

/** Where a name stands when it is declared rather than used. */
const DECLARED_AS: Readonly<Partial<Record<Node["type"], readonly string[]>>> = {
  AccessorProperty: ["key"],
  ArrayPattern: ["elements"],
  ArrowFunctionExpression: ["params"],
  AssignmentPattern: ["left"],
  CatchClause: ["param"],
  ClassDeclaration: ["id"],
  ClassExpression: ["id"],
  ExportSpecifier: ["exported"],
  FunctionDeclaration: ["id", "params"],
  FunctionExpression: ["id", "params"],
  ImportSpecifier: ["local"],
  MethodDefinition: ["key"],
  Property: ["value"],
  PropertyDefinition: ["key"],
  RestElement: ["argument"],
  TSFunctionType: ["params"],
  TSInterfaceDeclaration: ["id"],
  TSMethodSignature: ["key", "params"],
  TSPropertySignature: ["key"],
  TSTypeAliasDeclaration: ["id"],
  TSTypeParameter: ["name"],
  VariableDeclarator: ["id"],
};

function declaredName(visit: Visit): string | null {
  const { node, parent, part } = visit;
  if (parent === null || DECLARED_AS[parent.node.type]?.includes(part) !== true || isTakenOver(visit)) return null;
  if (node.type === "Identifier" || node.type === "PrivateIdentifier") return node.name;
  return node.type === "Literal" && typeof node.value === "string" ? node.value : null;
}

/** Whether a name was declared elsewhere and only passes through here: `import { quota }`, `const { quota = 1 } = foreign`. */
function isTakenOver({ parent, part }: Visit): boolean {
  if (parent === null) return false;
  switch (parent.node.type) {
    case "ImportSpecifier":
      return spelled(parent.node.imported) === parent.node.local.name;
    case "ExportSpecifier":
      return spelled(parent.node.exported) === spelled(parent.node.local);
    case "AssignmentPattern":
      return isTakenOver(parent);
    case "Property":
      return parent.node.shorthand || parent.parent?.node.type !== "ObjectPattern";
    default:
      return part === "key" && "computed" in parent.node && parent.node.computed;
  }
}

function spelled(node: Node): string | null {
  if (node.type === "Identifier") return node.name;
  return node.type === "Literal" && typeof node.value === "string" ? node.value : null;
}
