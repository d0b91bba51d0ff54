import { PackageError, show } from "./errors.js";
import { type Environment, holds, type Marker, parseMarker } from "./marker.js";
import { isName, normalizeName } from "./names.js";
import { parseSpecifiers, type Specifiers, writeSpecifiers } from "./specifier.js";

/** What somebody asks for: a package, which versions of it, and when (PEP 508). */
export interface Requirement {
  /** As it was written: `et_xmlfile`. */
  readonly written: string;
  /** In normal form: `et-xmlfile`. */
  readonly name: string;
  readonly extras: readonly string[];
  readonly specifiers: Specifiers;
  readonly marker: Marker | null;
}

const MAX_LENGTH = 4_000;
const REQUIREMENT = /^([A-Z0-9][A-Z0-9._-]*)\s*(?:\[([^\]]*)\])?\s*(?:\(([^)]*)\)|([<>=!~][^;]*))?$/i;

/** Reads `jinja2[i18n]>=3,<4; python_version < "3.13"`. */
export function parseRequirement(text: string): Requirement {
  if (text.length > MAX_LENGTH) throw unreadable(text);
  const semicolon = text.indexOf(";");
  const demand = (semicolon === -1 ? text : text.slice(0, semicolon)).trim();
  if (/^[A-Z0-9._-]+\s*(?:\[[^\]]*\])?\s*@/i.test(demand)) {
    throw new PackageError(
      "package_refused",
      `${show(demand)} names a file of its own; only packages of an index are taken`,
    );
  }
  const match = REQUIREMENT.exec(demand);
  const [, written = "", extras = "", inner, bare] = match ?? [];
  if (match === null || !isName(written)) throw unreadable(text);
  return {
    written,
    name: normalizeName(written),
    extras: extras
      .split(",")
      .map((extra) => extra.trim())
      .filter((extra) => extra !== "")
      .map(normalizeName),
    specifiers: parseSpecifiers(inner ?? bare ?? ""),
    marker: semicolon === -1 ? null : parseMarker(text.slice(semicolon + 1)),
  };
}

/** Whether a requirement counts in an environment, with these extras asked for. */
export function applies({ marker }: Requirement, environment: Environment, extras: readonly string[]): boolean {
  return marker === null || holds(marker, environment, extras);
}

/** A requirement without its marker, as a person would write it. */
export function writeRequirement({ written, extras, specifiers }: Requirement): string {
  const wanted = extras.length === 0 ? "" : `[${extras.join(",")}]`;
  return `${written}${wanted}${writeSpecifiers(specifiers)}`;
}

function unreadable(text: string): PackageError {
  return new PackageError(
    "package_name",
    `${show(text)} is no package requirement; write it as in openpyxl, jinja2>=3 or "openpyxl==3.0.9"`,
  );
}
