/** A row of `GLOSSARY.md`. */
export interface Term {
  readonly word: string;
  readonly meaning: string;
  /** The synonyms that we do not use. */
  readonly not: readonly string[];
  readonly line: number;
}

/** Reads the tables of the glossary: `| word | meaning | not |`. */
export function readGlossary(text: string): readonly Term[] {
  return text.split("\n").flatMap((row, index) => {
    const cells = row.split("|").map((cell) => cell.trim());
    if (cells.length !== 5 || cells[1] === "word" || /^:?-+:?$/.test(cells[1] ?? "")) return [];
    const [, word = "", meaning = "", not = ""] = cells;
    return [
      {
        word,
        meaning,
        not: not
          .split(",")
          .map((each) => each.trim())
          .filter(Boolean),
        line: index + 1,
      },
    ];
  });
}

/** Faults of the glossary itself: one word per concept, one concept per word, and nothing unexplained. */
export function findGlossaryFaults(file: string, terms: readonly Term[]): readonly string[] {
  if (terms.length === 0) return [`${file}:1 has no table of words; write | word | meaning | not |`];
  const seen = new Map<string, Term>();
  return terms.flatMap((term) => {
    const faults: string[] = [];
    const place = `${file}:${term.line}`;
    if (!/^[A-Z`].*\.$/.test(term.meaning)) faults.push(`${place} does not explain ${term.word}; write a sentence`);
    for (const word of [term.word, ...term.not]) {
      const other = seen.get(word);
      if (other !== undefined) faults.push(`${place} lists ${word}, as line ${other.line} does; keep one of them`);
      seen.set(word, term);
    }
    return faults;
  });
}
