import { DOCS } from "./docs.js";
import { type Exception, exceptionsIn } from "./exception.js";
import type { ErrorFacts, Language } from "./facts.js";
import { missingPackage } from "./missing-package.js";
import { pathRestriction } from "./path-restriction.js";
import type { ErrorGuidance } from "./result.js";
import { clean } from "./text.js";
import { memoryExhausted, stackOverflow } from "./trap-guidance.js";

type Explain = (exception: Exception, facts: ErrorFacts) => ErrorGuidance | null;

const EXPLANATIONS: Readonly<Record<Language, readonly Explain[]>> = {
  python: [pathRestriction, missingPackage, syntaxError, limitReached],
  javascript: [pathRestriction, tupleDestructuring, syntaxError, limitReached],
};

/** For an execution that failed by itself: by its last exception, or by the nearest of those that led to it. */
export function stderrGuidance(facts: ErrorFacts): ErrorGuidance | null {
  for (const exception of exceptionsIn(facts.stderr ?? "", facts.language)) {
    for (const explain of EXPLANATIONS[facts.language]) {
      const guidance = explain(exception, facts);
      if (guidance !== null) return guidance;
    }
  }
  return null;
}

/** What QuickJS says when the right-hand side of `const [a, b] = …` is no array. */
const NOT_ITERABLE: readonly string[] = ["value is not iterable", "cannot read property 'Symbol.iterator' of"];

function tupleDestructuring(exception: Exception): ErrorGuidance | null {
  const { name, message } = exception;
  if (name !== "TypeError" || !NOT_ITERABLE.some((text) => message.startsWith(text))) return null;
  return {
    error_type: "QuickJSTupleDestructuring",
    error_message: written(exception),
    actionable_guidance: [
      "QuickJS functions return [result, error] tuples - use destructuring",
      "Incorrect: const files = os.readdir('/app')",
      "Correct: const [files, err] = os.readdir('/app')",
      "Check for errors: if (err) { console.error(err); }",
    ],
    related_docs: [DOCS.tuples],
    code_examples: [
      "const [files, err] = os.readdir('/app');",
      "if (err) { console.error('Failed to read directory:', err); }",
      "else { console.log('Files:', files); }",
    ],
  };
}

const SYNTAX: ReadonlySet<string> = new Set(["SyntaxError", "IndentationError", "TabError"]);

/** The message of a parser says it all; there is nothing to add. */
function syntaxError(exception: Exception): ErrorGuidance | null {
  if (!SYNTAX.has(exception.name)) return null;
  return {
    error_type: "SyntaxError",
    error_message: written(exception),
    actionable_guidance: [],
    related_docs: [],
  };
}

/** Interpreters notice most overruns themselves and raise an exception, before the host has to trap. */
function limitReached(exception: Exception, facts: ErrorFacts): ErrorGuidance | null {
  const { name, message } = exception;
  if (name === "MemoryError" || (name === "InternalError" && message === "out of memory")) {
    return memoryExhausted(written(exception), facts);
  }
  const overflow =
    name === "RecursionError" ||
    (name === "InternalError" && message === "stack overflow") ||
    (name === "RangeError" && message === "Maximum call stack size exceeded");
  return overflow ? stackOverflow(written(exception), facts) : null;
}

function written({ name, message }: Exception): string {
  return message === "" ? name : `${name}: ${clean(message, 300)}`;
}
