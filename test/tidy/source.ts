import { type Comment, type Node, parseSync, visitorKeys } from "oxc-parser";

/** A parsed source, under its path from the root of the repository. */
export interface Source {
  readonly file: string;
  readonly text: string;
  /** Every node of the syntax tree, in the order in which a reader meets them. */
  readonly nodes: readonly Visit[];
  readonly comments: readonly Comment[];
  /** Why the text is no source; its other parts are empty then. */
  readonly error: string | null;
}

/** A node, and where it stands: under which other node, and as which part of it. */
export interface Visit {
  readonly node: Node;
  readonly parent: Visit | null;
  readonly part: string;
}

/** Rules read the syntax tree rather than the characters, so that a string or a comment sets none of them off. */
export function parse(file: string, text: string): Source {
  const { program, comments, errors } = parseSync(file, text);
  return { file, text, nodes: visitsIn(program), comments, error: errors[0]?.message ?? null };
}

/** Sources that no rule could read. */
export function findUnreadable({ file, error }: Source): readonly string[] {
  return error === null ? [] : [`${file}:1 cannot be parsed: ${error}; mend it`];
}

/** `file:line`, as editors and terminals link it. */
export function placeOf({ file, text }: Source, { start }: { readonly start: number }): string {
  return `${file}:${lineAt(text, start)}`;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function visitsIn(program: Node): readonly Visit[] {
  const visits: Visit[] = [];
  const waiting: Visit[] = [{ node: program, parent: null, part: "" }];
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    visits.push(visit);
    waiting.push(...partsOf(visit).reverse());
  }
  return visits;
}

function partsOf(parent: Visit): Visit[] {
  const fields: ReadonlyMap<string, unknown> = new Map(Object.entries(parent.node));
  return (visitorKeys[parent.node.type] ?? []).flatMap((part) =>
    [fields.get(part)].flat().flatMap((node) => (isNode(node) ? [{ node, parent, part }] : [])),
  );
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}
