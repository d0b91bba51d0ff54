import type { Node } from "oxc-parser";
import { placeOf, type Source } from "./source.js";

/** Constructs that switch the compiler off, hide what is public, or do not erase. */
export function findForbiddenSyntax(source: Source): readonly string[] {
  return source.nodes.flatMap(({ node }) => {
    const complaint = complaintAbout(node, source.file);
    return complaint === null ? [] : [`${placeOf(source, node)} ${complaint}`];
  });
}

/** Comments that put work off. */
export function findUnfinished(source: Source): readonly string[] {
  return source.comments.flatMap((comment) => {
    const [mark] = /\b(?:TODO|FIXME|XXX|HACK)\b/.exec(comment.value) ?? [];
    return mark === undefined ? [] : [`${placeOf(source, comment)} says ${mark}; do it now, or leave it out`];
  });
}

const TEST_FUNCTIONS: ReadonlySet<string> = new Set(["bench", "describe", "it", "scenario", "suite", "test"]);
const RENAMED_TEST_FUNCTIONS: ReadonlySet<string> = new Set(["fdescribe", "fit", "xdescribe", "xit", "xtest"]);
const SILENCERS: ReadonlySet<string> = new Set(["fails", "only", "runIf", "skip", "skipIf", "todo"]);

/** Tests that do not run, or that keep the others from running. */
export function findSilencedTests(source: Source): readonly string[] {
  return source.nodes.flatMap(({ node }) => {
    const how = silencer(node);
    return how === null
      ? []
      : [`${placeOf(source, node)} has ${how}; a test runs always and everywhere, or is deleted`];
  });
}

/** Mocks of our own modules: they prove that the mock works. */
export function findMockedModules(source: Source): readonly string[] {
  return source.nodes.flatMap(({ node }) => {
    if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return [];
    const { object, property } = node.callee;
    if (object.type !== "Identifier" || object.name !== "vi" || property.type !== "Identifier") return [];
    if (!["mock", "doMock"].includes(property.name)) return [];
    const name = moduleName(node.arguments[0]);
    if (name === null || !/^(?:\.|bursar(?:\/|$)|@bursar\/)/.test(name)) return [];
    return [`${placeOf(source, node)} mocks ${name}; use the real part, or a fake behind its port`];
  });
}

function complaintAbout(node: Node, file: string): string | null {
  switch (node.type) {
    case "TSAnyKeyword":
      return "says any; say what it is, or unknown";
    case "TSEnumDeclaration":
      return "declares an enum; use a union of literals";
    case "ExportDefaultDeclaration":
      return file.endsWith(".config.ts") ? null : "exports a default; give it a name";
    case "ExportSpecifier":
      return nameOf(node.exported) === "default" ? "exports a default; give it a name" : null;
    case "ExportAllDeclaration":
      return "exports everything; name what is public";
    default:
      return null;
  }
}

function silencer(node: Node): string | null {
  if (node.type === "Identifier") return RENAMED_TEST_FUNCTIONS.has(node.name) ? node.name : null;
  if (node.type === "MemberExpression") {
    const name = nameOf(node.property);
    return name !== null && SILENCERS.has(name) && testFunction(node) ? `.${name}` : null;
  }
  if (node.type !== "CallExpression" || !testFunction(node)) return null;
  const options = node.arguments.flatMap((argument) =>
    argument.type === "ObjectExpression" ? argument.properties : [],
  );
  const names = options.flatMap((option) => (option.type === "Property" ? (nameOf(option.key) ?? []) : []));
  const name = names.find((each) => SILENCERS.has(each));
  return name === undefined ? null : `the option ${name}`;
}

/** Whether a chain such as `describe.concurrent.each(…)` begins with a function that declares tests. */
function testFunction(node: Node): boolean {
  if (node.type === "CallExpression") return testFunction(node.callee);
  if (node.type === "MemberExpression") return testFunction(node.object);
  return node.type === "Identifier" && TEST_FUNCTIONS.has(node.name);
}

function moduleName(argument: Node | undefined): string | null {
  if (argument?.type === "ImportExpression") return moduleName(argument.source);
  return argument?.type === "Literal" && typeof argument.value === "string" ? argument.value : null;
}

function nameOf(node: Node): string | null {
  if (node.type === "Identifier") return node.name;
  return node.type === "Literal" && typeof node.value === "string" ? node.value : null;
}
