/** The forms of the language: what holds other forms and is more than a function. */
export const FORM_NAMES = [
  "run",
  "do",
  "let",
  "if",
  "when",
  "cond",
  "and",
  "or",
  "fn",
  "def",
  "defn",
  "loop",
  "recur",
  "for",
  "doseq",
  "try",
  "catch",
  "finally",
  "call",
  "step",
  "parallel",
  "->",
  "->>",
] as const;

export type FormName = (typeof FORM_NAMES)[number];
