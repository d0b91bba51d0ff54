import { PackageError } from "./errors.js";

/** What a package says about itself in `METADATA` or `PKG-INFO`. */
export interface Metadata {
  readonly name: string;
  readonly version: string;
  /** Requirements as PEP 508 writes them, markers included. */
  readonly requirements: readonly string[];
  readonly requiresPython: string | null;
  readonly licence: string | null;
}

const MAX_REQUIREMENTS = 2_000;
const MAX_LICENCE_NAME = 200;

/** Reads the headers of a metadata file; what follows the first empty line is a description. */
export function parseMetadata(text: string): Metadata {
  const headers = parseHeaders(text);
  const name = headers.get("name")?.[0] ?? "";
  const version = headers.get("version")?.[0] ?? "";
  if (name === "" || version === "") {
    throw new PackageError(
      "package_refused",
      "its metadata does not say Name and Version, so nobody can tell what it is",
    );
  }
  const requirements = headers.get("requires-dist") ?? [];
  if (requirements.length > MAX_REQUIREMENTS) {
    throw new PackageError("package_refused", `it has more than ${MAX_REQUIREMENTS} requirements`);
  }
  const requiresPython = headers.get("requires-python")?.[0] ?? null;
  return { name, version, requirements, requiresPython, licence: licenceOf(headers) };
}

/**
 * Reads `requires.txt`, in which older packages keep their requirements: sections such as `[test:python_version < "3"]`
 * hold an extra, a marker or both.
 */
export function parseRequiresTxt(text: string): readonly string[] {
  const requirements: string[] = [];
  let condition = "";
  for (const line of text.split(/\r?\n/, MAX_REQUIREMENTS * 2).map((each) => each.trim())) {
    const section = /^\[([^:\]]*)(?::(.*))?\]$/.exec(line);
    if (section !== null) {
      const [, extra = "", marker = ""] = section;
      const parts = [marker === "" ? "" : `(${marker})`, extra === "" ? "" : `extra == "${extra.trim()}"`];
      condition = parts.filter((part) => part !== "").join(" and ");
    } else if (line !== "" && !line.startsWith("#")) {
      requirements.push(condition === "" ? line : `${line} ; ${condition}`);
    }
  }
  return requirements;
}

/** Headers as in a mail: names in lower case, a line that begins with a blank continues the one before. */
export function parseHeaders(text: string): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  let last: string[] | null = null;
  for (const line of text.split(/\r?\n/)) {
    if (line === "") break;
    if (/^[ \t]/.test(line)) {
      const value = last?.pop();
      if (value !== undefined) last?.push(`${value}\n${line.trim()}`);
      continue;
    }
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const name = line.slice(0, colon).toLowerCase();
    last = headers.get(name) ?? [];
    last.push(line.slice(colon + 1).trim());
    headers.set(name, last);
  }
  return headers;
}

/** The SPDX expression where there is one; `License:` holds anything from a name to the whole text. */
function licenceOf(headers: ReadonlyMap<string, readonly string[]>): string | null {
  const expression = headers.get("license-expression")?.[0];
  if (isLicenceName(expression)) return expression;
  const written = headers.get("license")?.[0]?.split("\n")[0];
  if (isLicenceName(written)) return written;
  const classified = (headers.get("classifier") ?? [])
    .filter((each) => each.startsWith("License ::"))
    .map((each) => each.split("::").at(-1)?.trim() ?? "");
  return classified.length === 0 ? null : classified.join(", ");
}

function isLicenceName(text: string | undefined): text is string {
  return text !== undefined && text !== "" && text !== "UNKNOWN" && text.length <= MAX_LICENCE_NAME;
}
