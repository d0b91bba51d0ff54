import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseSync } from "oxc-parser";

const modules = new Map();

/** A file of declarations, read once: what it declares and what it exports, by name. */
function moduleAt(file) {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be read: ${errors[0].message}; build it first`);
  const module = { file, text, comments, declared: new Map(), exported: new Map() };
  modules.set(file, module);
  for (const node of program.body) take(module, node);
  return module;
}

/** Where a name that a file exports is really declared. Several declarations of one name are overloads. */
export function findDeclaration(file, name, depth = 0) {
  if (depth > 20) throw new Error(`${name} of ${file} is handed on too often`);
  const module = moduleAt(file);
  const target = module.exported.get(name);
  if (target === undefined) throw new Error(`${file} does not export ${name}`);
  if (target.from !== null) return findDeclaration(beside(file, target.from), target.name, depth + 1);
  const nodes = module.declared.get(target.name);
  // What was imported first is handed on like the rest.
  if (nodes?.from !== undefined) return findDeclaration(beside(file, nodes.from), nodes.name, depth + 1);
  if (nodes === undefined) throw new Error(`${file} exports ${name}, which it does not declare`);
  return { module, name: target.name, nodes };
}

function beside(file, specifier) {
  return resolve(dirname(file), specifier.replace(/\.(m?)js$/, ".d.$1ts"));
}

function take(module, node) {
  switch (node.type) {
    case "ImportDeclaration":
      for (const { local, imported } of node.specifiers.filter(({ type }) => type === "ImportSpecifier")) {
        module.declared.set(local.name, { from: node.source.value, name: imported.name });
      }
      return;
    case "ExportNamedDeclaration":
      if (node.declaration !== null) return declare(module, node.declaration, node, true);
      for (const { local, exported } of node.specifiers) {
        module.exported.set(exported.name, { from: node.source?.value ?? null, name: local.name });
      }
      return;
    default:
      if ("id" in node || "declarations" in node) declare(module, node, node, false);
  }
}

function declare(module, declaration, whole, isExported) {
  const ids =
    declaration.type === "VariableDeclaration" ? declaration.declarations.map(({ id }) => id) : [declaration.id];
  for (const { name } of ids) {
    const before = module.declared.get(name);
    const entry = { node: declaration, start: whole.start };
    module.declared.set(name, Array.isArray(before) ? [...before, entry] : [entry]);
    if (isExported) module.exported.set(name, { from: null, name });
  }
}

/** The names that a file exports, in its own order. */
export function exportedNames(file) {
  return [...moduleAt(file).exported.keys()];
}
