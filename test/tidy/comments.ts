import { type Comment, parseSync, type Statement } from "oxc-parser";
import { placeOf, type Source } from "./source.js";

/** Comments that are code: git remembers what was, and a reader wonders what it is there for. */
export function findCommentedOutCode(source: Source): readonly string[] {
  return passages(source).flatMap(({ start, texts }) => {
    const isCode = [texts.join("\n"), ...texts].some((text) => isSourceCode(source.file, text));
    return isCode ? [`${placeOf(source, { start })} is commented-out code; delete it`] : [];
  });
}

interface Passage {
  readonly start: number;
  readonly texts: readonly string[];
}

/** Block comments, and line comments that follow each other as one. Doc comments hold examples, which are meant to be code. */
function passages({ text, comments }: Source): readonly Passage[] {
  const found: { start: number; end: number; texts: string[] }[] = [];
  for (const comment of comments.filter(isNoDoc)) {
    const last = found.at(-1);
    const follows =
      comment.type === "Line" && last !== undefined && /^\n[ \t]*$/.test(text.slice(last.end, comment.start));
    if (follows) {
      last.texts.push(comment.value);
      last.end = comment.end;
    } else {
      found.push({ start: comment.start, end: comment.end, texts: [comment.value] });
    }
  }
  return found;
}

function isNoDoc({ type, value }: Comment): boolean {
  return type === "Line" || !value.startsWith("*");
}

/** Prose hardly ever parses, and never ends like a statement; a single word or a label does not count. */
function isSourceCode(file: string, text: string): boolean {
  if (!/[;}]\s*$/.test(text)) return false;
  // Wrapped, so that `return` and `await` may stand in it; bare, so that `import` and `export` may.
  const wrapped = statements(file, `async function* wrapper() {${text}\n}`).flatMap((statement) =>
    statement.type === "FunctionDeclaration" ? (statement.body?.body ?? []) : [],
  );
  return [...wrapped, ...statements(file, text)].some(isTelling);
}

function statements(file: string, text: string): readonly Statement[] {
  const { program, errors } = parseSync(file, text);
  return errors.length > 0 ? [] : program.body;
}

function isTelling(statement: Statement): boolean {
  switch (statement.type) {
    case "EmptyStatement":
    case "LabeledStatement":
      return false;
    case "BlockStatement":
      return statement.body.some(isTelling);
    case "ExpressionStatement":
      return !["Identifier", "Literal", "SequenceExpression"].includes(statement.expression.type);
    default:
      return true;
  }
}
