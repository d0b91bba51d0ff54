import { expect, test } from "vitest";
import { findUnreadable, parse } from "./source.js";

test("nodes come in the order in which a reader meets them, each with its place", () => {
  const { nodes } = parse("a.ts", "const a = b(c, d);");

  const names = nodes.flatMap(({ node, parent, part }) =>
    node.type === "Identifier" ? [`${node.name}: ${part} of ${parent?.node.type}`] : [],
  );
  expect(names).toEqual([
    "a: id of VariableDeclarator",
    "b: callee of CallExpression",
    "c: arguments of CallExpression",
    "d: arguments of CallExpression",
  ]);
});

test("a text that is no source is a finding, because no rule could read it", () => {
  expect(findUnreadable(parse("a.ts", "const = 1;"))).toEqual([expect.stringContaining("a.ts:1 cannot be parsed")]);
  expect(findUnreadable(parse("a.tsx", "export const a = <b>{1}</b>;"))).toEqual([]);
});
