/** The known word a typo most likely meant, or null when none is close enough to be worth offering. */
export function nearest(word: string, known: readonly string[]): string | null {
  const bounded = word.slice(0, 64);
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(bounded.length / 3)) + 1;
  for (const candidate of known) {
    const distance = edits(bounded, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  // Half a name is no typo: `tokens` means `llm_tokens`.
  return (
    best ?? (bounded.length < 3 ? null : (known.find((candidate) => candidate.split("_").includes(bounded)) ?? null))
  );
}

/** Levenshtein's distance with one row of memory. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
