import { PackageError, show } from "./errors.js";

const NAME = /^[A-Z0-9](?:[A-Z0-9._-]{0,126}[A-Z0-9])?$/i;

/** Whether a text can be the name of a package or of an extra at all. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** PEP 503: `et_xmlfile`, `ET.xmlfile` and `et-xmlfile` are one package. */
export function normalizeName(name: string): string {
  if (!isName(name)) {
    throw new PackageError(
      "package_name",
      `${show(name)} is no package name; allowed are letters, digits, "-", "_" and ".", as in python-dateutil`,
    );
  }
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

/** The known name a typo most likely meant, or null when none is close enough to be worth offering. */
export function nearestName(name: string, known: Iterable<string>): string | null {
  const asked = name.toLowerCase().slice(0, 64);
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(asked.length / 4)) + 1;
  for (const each of known) {
    if (Math.abs(each.length - asked.length) >= bestDistance) continue;
    const distance = edits(asked, each.toLowerCase());
    if (distance < bestDistance) {
      best = each;
      bestDistance = distance;
    }
  }
  return best;
}

/** Damerau's distance: a swap of two neighbours is one slip of the fingers, not two. */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min((row[j - 1] ?? 0) + (same ? 0 : 1), (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
