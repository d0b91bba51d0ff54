import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseSync } from "oxc-parser";
import { exportedNames, findDeclaration } from "./declarations.mjs";
import { docOf, sentenceOf } from "./doc-comment.mjs";
import { ROOT } from "./root.mjs";
import { kindOf } from "./signature.mjs";

const SOURCES = ["packages/bursar/src", "packages/sandbox/src"];

/** Every error class that is public, with the codes that the sources give it. */
export function errorsPage(entries) {
  const { codes, unions } = codesInSources();
  const classes = new Map();
  for (const entry of entries) {
    for (const name of exportedNames(entry.types)) {
      const found = findDeclaration(entry.types, name);
      if (kindOf(found) !== "class" || !isError(found)) continue;
      const key = `${found.module.file}#${found.name}`;
      const known = classes.get(key) ?? {
        name,
        entries: [],
        about: sentenceOf(docOf(found).text),
        codes: codes.get(sourceOf(key)),
      };
      classes.set(key, { ...known, entries: [...known.entries, entry.name] });
    }
  }
  const rows = [...classes.values()].map(
    ({ name, entries: from, about, codes: its }) =>
      `| \`${name}\` | ${listOf(from)} | ${about} | ${listOf([...(its ?? [])].sort())} |`,
  );
  const text = `# Errors

Errors that are thrown on purpose. \`code\` is stable, the message is for people: it says what happened, and what to do. A class
without codes here has none, or takes over those of others.

A call to a model that was refused has one of these: ${listOf(unions.get("RefusalCode"))}
([what they mean](../MODELS.md#when-a-call-does-not-fit)).

| class | exported by | what it means | codes |
|---|---|---|---|
${rows.join("\n")}
`;
  return { file: "errors.md", title: "Errors", about: "Error classes and their codes.", text };
}

function listOf(words = []) {
  return words.map((word) => `\`${word}\``).join(", ");
}

function isError({ name, nodes }) {
  return nodes.some(({ node }) => node.superClass !== null) && /Error$|^OutOfTime$/.test(name);
}

/** The source that declarations were made from, with the name in it. */
function sourceOf(key) {
  return key.replace("/dist/", "/src/").replace(/\.d\.(m?)ts#/, ".$1ts#");
}

/**
 * The codes of every error class, by its file and name: what it hands to `super` itself, or else what its constructor allows and
 * what others give it.
 */
function codesInSources() {
  const found = { codes: new Map(), unions: new Map(), open: new Map(), given: [] };
  for (const folder of SOURCES) {
    for (const name of readdirSync(join(ROOT, folder), { recursive: true })) {
      if (!name.endsWith(".ts")) continue;
      const file = join(ROOT, folder, name);
      const { program } = parseSync(file, readFileSync(file, "utf8"));
      visit(program, null, { ...found, file, imported: importsOf(program, file) });
    }
  }
  for (const [key, type] of found.open) add(found.codes, key, found.unions.get(type) ?? []);
  for (const { key, codes } of found.given) if (found.open.has(key)) add(found.codes, key, codes);
  return found;
}

/** Where names that a file imports are declared. */
function importsOf({ body }, file) {
  const all = body.filter(({ type, source }) => type === "ImportDeclaration" && source.value.startsWith("."));
  return new Map(
    all.flatMap(({ source, specifiers }) => {
      const from = resolve(dirname(file), source.value.replace(/\.js$/, ".ts"));
      return specifiers.map(({ local }) => [local.name, from]);
    }),
  );
}

function visit(node, inside, found) {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const each of node) visit(each, inside, found);
    return;
  }
  const home = node.type === "ClassDeclaration" ? node : inside;
  const name = home?.id?.name;
  if (node.type === "TSTypeAliasDeclaration") found.unions.set(node.id.name, literalsOf(node.typeAnnotation));
  if (node.type === "NewExpression" && node.callee.type === "Identifier") {
    const from = found.imported.get(node.callee.name) ?? found.file;
    found.given.push({ key: `${from}#${node.callee.name}`, codes: literalsOf(node.arguments[0]) });
  }
  if (node.type === "MethodDefinition" && node.kind === "constructor" && name !== undefined) {
    takeConstructor(node.value, `${found.file}#${name}`, found);
  }
  if (node.type === "PropertyDefinition" && node.key.name === "code" && name !== undefined) {
    add(found.codes, `${found.file}#${name}`, literalsOf(node.value));
  }
  for (const value of Object.values(node)) visit(value, home, found);
}

/** A class whose constructor hands its first argument on, or keeps it as its code or reason, takes codes from others. */
function takeConstructor({ params, body }, key, found) {
  const said = body?.body.find(({ expression }) => expression?.callee?.type === "Super")?.expression.arguments[0];
  add(found.codes, key, literalsOf(said));
  const [first] = params;
  const isHandedOn = said?.type === "Identifier" && first?.name === said.name;
  if (!isHandedOn && first?.name !== "code" && first?.name !== "reason") return;
  const type = first.typeAnnotation?.typeAnnotation;
  found.open.set(key, type?.typeName?.name ?? null);
  add(found.codes, key, literalsOf(type));
}

/** Texts that look like codes, in an expression that chooses between some, or in a type that allows some. */
function literalsOf(node) {
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "string" && /^[a-z]+(?:_[a-z]+)*$/.test(node.value) ? [node.value] : [];
    case "ConditionalExpression":
      return [...literalsOf(node.consequent), ...literalsOf(node.alternate)];
    case "TSLiteralType":
      return literalsOf(node.literal);
    case "TSUnionType":
      return node.types.flatMap(literalsOf);
    default:
      return [];
  }
}

function add(codes, name, some) {
  if (some.length > 0) codes.set(name, new Set([...(codes.get(name) ?? []), ...some]));
}
