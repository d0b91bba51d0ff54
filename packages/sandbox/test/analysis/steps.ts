const SINGLE = ["charCodeAt", "codePointAt", "charAt", "at"] as const;
const WHOLE = [
  "trim",
  "trimStart",
  "trimEnd",
  "toLowerCase",
  "split",
  "replace",
  "replaceAll",
  "match",
  "matchAll",
] as const;
const SEARCHING = ["indexOf", "lastIndexOf", "includes", "startsWith", "endsWith", "search"] as const;

type Method = (this: string, ...given: unknown[]) => unknown;

export interface Steps {
  /** Characters that were read, one way or another. */
  readonly characters: number;
  /** How often a regular expression was run. */
  readonly expressions: number;
}

/**
 * How much of its texts a pure function reads, instead of how long it takes: methods of strings count the characters
 * they look at in the worst case, whatever machine they run on. A slice reads nothing; who then searches it is counted.
 */
export function countSteps(run: () => unknown): Steps {
  const strings = String.prototype as unknown as Record<string, Method>;
  const exec = RegExp.prototype.exec;
  const originals = new Map<string, Method>();
  let characters = 0;
  let expressions = 0;
  const watch = (name: string, cost: (text: string, given: readonly unknown[], result: unknown) => number) => {
    const original = strings[name] as Method;
    originals.set(name, original);
    strings[name] = function (this: string, ...given: unknown[]) {
      const result = original.apply(this, given);
      characters += cost(this, given, result);
      return result;
    };
  };
  for (const name of SINGLE) watch(name, () => 1);
  for (const name of WHOLE) watch(name, (text) => text.length + 1);
  for (const name of SEARCHING) watch(name, searched(name));
  RegExp.prototype.exec = function (text: string) {
    expressions++;
    return exec.call(this, text);
  };
  try {
    run();
  } finally {
    for (const [name, original] of originals) strings[name] = original;
    RegExp.prototype.exec = exec;
  }
  return { characters, expressions };
}

/** A search ends where it found something; `startsWith` and `endsWith` read no more than what they look for. */
function searched(name: (typeof SEARCHING)[number]) {
  return (text: string, [wanted, from]: readonly unknown[], result: unknown): number => {
    const length = String(wanted).length;
    if (name === "startsWith" || name === "endsWith") return length;
    const start = typeof from === "number" ? from : 0;
    if (name === "indexOf" && typeof result === "number" && result >= 0) return result - start + length;
    return Math.max(0, text.length - start) + length;
  };
}
