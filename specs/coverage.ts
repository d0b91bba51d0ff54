import { createHash } from "node:crypto";
import type { Citation } from "./citations.js";
import { type LineRange, linesIn, parseLines } from "./lines.js";
import type { Requirement, Spec } from "./manifest.js";
import type { Prose } from "./prose.js";
import { slugOf, titleOf } from "./title.js";

/** A sentence that says what is wrong, where, and what to do about it. No findings, no fault. */
type Findings = readonly string[];

export function findChangedText(spec: Spec): Findings {
  const actual = createHash("sha256").update(spec.text).digest("hex");
  return actual === spec.sha256
    ? []
    : [
        `${spec.file} is not the text that was fixed: its sha256 is ${actual}; restore it, or fix it anew in the manifest`,
      ];
}

export function findUnownedLines(spec: Spec, prose: readonly Prose[]): Findings {
  const owned = new Set([...requiredLines(spec).keys(), ...proseLines(prose)]);
  return nonBlankLines(spec)
    .filter(([line]) => !owned.has(line))
    .map(([line, text]) => `${spec.file}:${line} belongs to no requirement and to no prose: ${text.trim()}`);
}

/** A line cannot both demand something and demand nothing. */
export function findOverlappingProse(spec: Spec, prose: readonly Prose[]): Findings {
  const required = requiredLines(spec);
  return proseLines(prose)
    .filter((line) => required.has(line))
    .map((line) => `${spec.file}:${line} is prose, but belongs to ${required.get(line)}; let go of one of them`);
}

/** A range that ends outside its text or on a blank line was counted wrongly, and the lines beside it too. */
export function findMiscountedRanges(spec: Spec, prose: readonly Prose[]): Findings {
  const texts = new Map(nonBlankLines(spec));
  const miscounted = (owner: string, ranges: readonly LineRange[]) =>
    ranges
      .filter(([from, to]) => !texts.has(from) || !texts.has(to))
      .map(([from, to]) => `${spec.file}:${from}-${to} of ${owner} begins or ends on no text; count again`);
  return [
    ...spec.requirements.flatMap(({ id, lines }) => miscounted(id, lines)),
    ...prose.flatMap(([reason, lines]) => miscounted(`prose "${reason}"`, parseLines(lines))),
  ];
}

export function findMalformedIds(spec: Spec): Findings {
  const wellFormed = new RegExp(`^${spec.number}/[a-z0-9]+(-[a-z0-9]+)*$`);
  return spec.requirements
    .filter(({ id }) => !wellFormed.test(id))
    .map(({ id }) => `${id} is malformed; an id of ${spec.file} is ${spec.number}/ and a slug in kebab case`);
}

export function findDuplicateIds(ids: readonly string[]): Findings {
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...twice].map((id) => `${id} is listed more than once; make the ids distinct or drop one`);
}

/** Where a text names its requirements, the ids follow the text. */
export function findMisnamedScenarios(spec: Spec): Findings {
  const byFirstLine = new Map(spec.requirements.map(({ id, lines }) => [lines[0]?.[0], id]));
  return nonBlankLines(spec)
    .filter(([, text]) => text.startsWith("#### Scenario: "))
    .map(([line, text]) => ({ line, due: `${spec.number}/${slugOf(titleOf(text))}`, id: byFirstLine.get(line) }))
    .filter(({ due, id }) => id !== due)
    .map(({ line, due, id }) => `${spec.file}:${line} is the scenario ${due}, but begins ${id ?? "no requirement"}`);
}

export function findUncited(requirements: readonly Requirement[], citations: readonly Citation[]): Findings {
  const cited = new Set(citations.map(({ id }) => id));
  return requirements.filter(({ id }) => !cited.has(id)).map(({ id, title }) => `${id} is proven by no test: ${title}`);
}

export function findUnknownCitations(requirements: readonly Requirement[], citations: readonly Citation[]): Findings {
  const known = new Set(requirements.map(({ id }) => id));
  return citations.flatMap(({ id, file, line }) => {
    if (id === null) return [`${file}:${line} computes the id it cites; write it out as a string in double quotes`];
    return known.has(id) ? [] : [`${file}:${line} cites ${id}, which is in no manifest of specs/manifest/`];
  });
}

function nonBlankLines(spec: Spec): readonly (readonly [line: number, text: string])[] {
  return spec.text
    .split("\n")
    .map((text, index) => [index + 1, text] as const)
    .filter(([, text]) => text.trim() !== "");
}

function requiredLines(spec: Spec): ReadonlyMap<number, string> {
  return new Map(spec.requirements.flatMap(({ id, lines }) => linesIn(lines).map((line) => [line, id] as const)));
}

function proseLines(prose: readonly Prose[]): readonly number[] {
  return prose.flatMap(([, lines]) => linesIn(parseLines(lines)));
}
