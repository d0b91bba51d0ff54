import { PackageError, show } from "./errors.js";
import { baseVersion, compareVersions, isPrerelease, parseVersion, publicVersion, type Version } from "./version.js";

const OPERATORS = ["===", "~=", "==", "!=", "<=", ">=", "<", ">"] as const;

type Operator = (typeof OPERATORS)[number];

/** One demand on a version, such as `>=2.0` or `==1.4.*`. */
interface Specifier {
  readonly operator: Operator;
  readonly written: string;
  readonly version: Version | null;
  /** Whether it ends in `.*`, so that only the beginning counts. */
  readonly prefix: boolean;
}

/** Demands on one version, all of which have to be met. */
export type Specifiers = readonly Specifier[];

const MAX_SPECIFIERS = 64;
const MAX_LENGTH = 128;

/** Reads `>=2.0,<3,!=2.1.*`; nothing written is nothing demanded. */
export function parseSpecifiers(text: string): Specifiers {
  const parts = text.split(",", MAX_SPECIFIERS + 1).map((part) => part.trim());
  if (parts.length > MAX_SPECIFIERS) throw unreadable(text);
  return parts.filter((part) => part !== "").map(parseSpecifier);
}

export function writeSpecifiers(specifiers: Specifiers): string {
  return specifiers.map(({ operator, written }) => `${operator}${written}`).join(",");
}

/** Whether a version meets all demands; what is offered to whom is another question, see `allowsPrereleases`. */
export function meets(version: Version, specifiers: Specifiers): boolean {
  return specifiers.every((specifier) => meetsOne(version, specifier));
}

/** A version for testers is offered to those who name one themselves. */
export function allowsPrereleases(specifiers: Specifiers): boolean {
  return specifiers.some(({ operator, version }) => operator !== "!=" && version !== null && isPrerelease(version));
}

function parseSpecifier(text: string): Specifier {
  const operator = OPERATORS.find((each) => text.startsWith(each));
  if (operator === undefined || text.length > MAX_LENGTH) throw unreadable(text);
  const written = text.slice(operator.length).trim();
  if (operator === "===") return { operator, written, version: parseVersion(written), prefix: false };
  const prefix = written.endsWith(".*");
  const version = parseVersion(prefix ? written.slice(0, -2) : written);
  if (version === null || (prefix && operator !== "==" && operator !== "!=")) throw unreadable(text);
  if (operator === "~=" && version.release.length < 2) throw unreadable(text);
  return { operator, written, version, prefix };
}

function unreadable(text: string): PackageError {
  return new PackageError(
    "package_name",
    `${show(text)} says nothing about versions that PEP 440 knows; write it as in >=2.0,<3 or ==1.4.*`,
  );
}

function meetsOne(version: Version, { operator, written, version: wanted, prefix }: Specifier): boolean {
  if (operator === "===") return version.text === written.toLowerCase();
  if (wanted === null) return false;
  switch (operator) {
    case "==":
      return equals(version, wanted, prefix);
    case "!=":
      return !equals(version, wanted, prefix);
    case "<=":
      return compareVersions(publicVersion(version), wanted) <= 0;
    case ">=":
      return compareVersions(publicVersion(version), wanted) >= 0;
    case "~=":
      return (
        compareVersions(publicVersion(version), wanted) >= 0 && beginsWith(version, wanted, wanted.release.slice(0, -1))
      );
    case "<":
      return isBefore(version, wanted);
    case ">":
      return isAfter(version, wanted);
  }
}

function equals(version: Version, wanted: Version, prefix: boolean): boolean {
  if (prefix) return beginsWith(version, wanted, wanted.release) && hasSameTail(version, wanted);
  const compared = wanted.local.length === 0 ? publicVersion(version) : version;
  return compareVersions(compared, wanted) === 0;
}

function beginsWith(version: Version, { epoch }: Version, release: readonly number[]): boolean {
  return version.epoch === epoch && release.every((part, index) => part === (version.release[index] ?? 0));
}

/** `==1.4rc1.*` is rare, and then the candidate has to be the same one. */
function hasSameTail(version: Version, wanted: Version): boolean {
  if (wanted.pre === null) return true;
  return version.pre?.phase === wanted.pre.phase && version.pre.number === wanted.pre.number;
}

/** Nobody who asks for less than 3 wants 3.0rc1. */
function isBefore(version: Version, wanted: Version): boolean {
  if (compareVersions(version, wanted) >= 0) return false;
  return isPrerelease(wanted) || !isPrerelease(version) || !hasSameBase(version, wanted);
}

/** Nobody who asks for more than 3 wants 3.0.post1 or 3.0+mine. */
function isAfter(version: Version, wanted: Version): boolean {
  if (compareVersions(version, wanted) <= 0) return false;
  if (!hasSameBase(version, wanted)) return true;
  return version.local.length === 0 && (wanted.post !== null || version.post === null);
}

function hasSameBase(a: Version, b: Version): boolean {
  return compareVersions(baseVersion(a), baseVersion(b)) === 0;
}
