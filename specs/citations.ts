import { parseSync, Visitor } from "oxc-parser";

/** A place where a test claims to prove a requirement. */
export interface Citation {
  /** Null when the id is computed: a reader could not find it, and neither can the check. */
  readonly id: string | null;
  readonly file: string;
  readonly line: number;
}

/** Reads the syntax tree rather than the characters, so that a comment or a string is no proof. */
export function citationsIn(file: string, source: string): readonly Citation[] {
  const found: Citation[] = [];
  const visitor = new Visitor({
    CallExpression(call) {
      if (call.callee.type !== "Identifier" || call.callee.name !== "scenario") return;
      const [first] = call.arguments;
      const id = first?.type === "Literal" && typeof first.value === "string" ? first.value : null;
      found.push({ id, file, line: source.slice(0, call.start).split("\n").length });
    },
  });
  visitor.visit(parseSync(file, source).program);
  return found;
}
