import type { MatchLogic } from "@pydantic/genai-prices";

/** How a name goes with what the table says of a model's names. */
type Fit = "no" | "another" | "yes";

/**
 * Whether a name is that of another version than the one whose names the table describes. It takes many models by how their names
 * begin, and one that is newer than the table begins like the one before it: `claude-sonnet-5-5` like `claude-sonnet-5`.
 */
export function isOtherVersion(model: string, match: MatchLogic): boolean {
  return fitOf(model.toLowerCase().trim(), match) === "another";
}

function fitOf(name: string, match: MatchLogic): Fit {
  if ("or" in match) return best(match.or.map((each) => fitOf(name, each)));
  if ("and" in match) return worst(match.and.map((each) => fitOf(name, each)));
  if ("equals" in match) return name === match.equals.toLowerCase() ? "yes" : "no";
  if ("regex" in match) return new RegExp(match.regex, "i").test(name) ? "yes" : "no";
  if ("ends_with" in match) return name.endsWith(match.ends_with.toLowerCase()) ? "yes" : "no";
  const part = ("starts_with" in match ? match.starts_with : match.contains).toLowerCase();
  const at = name.indexOf(part);
  if (at === -1 || ("starts_with" in match && at > 0)) return "no";
  return goesOnAsVersion(part, name.slice(at + part.length)) ? "another" : "yes";
}

/** Whether what follows makes another version of it: `4` and `-5`, or `4-1` and `0`. Dates, sizes and revisions do not. */
function goesOnAsVersion(part: string, rest: string): boolean {
  const number = /\d+$/.exec(part)?.[0];
  if (number === undefined) return false;
  const more = /^\d*/.exec(rest)?.[0] ?? "";
  if (more !== "") return number.length + more.length <= 2;
  return /^[-.](?!\d\d-(?:\d\d|\d{4})(?!\d))\d{1,2}(?![\da-z])/.test(rest);
}

function best(fits: readonly Fit[]): Fit {
  return fits.find((each) => each === "yes") ?? fits.find((each) => each === "another") ?? "no";
}

function worst(fits: readonly Fit[]): Fit {
  return fits.find((each) => each === "no") ?? fits.find((each) => each === "another") ?? "yes";
}
