/** A version of a package after PEP 440, such as `1!2.0rc1.post3.dev4+local.5`. */
export interface Version {
  /** The version as PEP 440 writes it in normal form. */
  readonly text: string;
  readonly epoch: number;
  readonly release: readonly number[];
  readonly pre: Prerelease | null;
  readonly post: number | null;
  readonly dev: number | null;
  readonly local: readonly (string | number)[];
}

interface Prerelease {
  readonly phase: "a" | "b" | "rc";
  readonly number: number;
}

const MAX_LENGTH = 128;
const VERSION = new RegExp(
  [
    /^v?(?:(\d{1,15})!)?(\d{1,15}(?:\.\d{1,15}){0,31})/,
    /(?:[-_.]?(alpha|beta|preview|pre|a|b|c|rc)[-_.]?(\d{1,15})?)?/,
    /(?:-(\d{1,15})|[-_.]?(post|rev|r)[-_.]?(\d{1,15})?)?/,
    /(?:[-_.]?(dev)[-_.]?(\d{1,15})?)?/,
    /(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/,
  ]
    .map(({ source }) => source)
    .join(""),
);

const PHASES: Readonly<Record<string, Prerelease["phase"]>> = {
  a: "a",
  alpha: "a",
  b: "b",
  beta: "b",
  c: "rc",
  rc: "rc",
  pre: "rc",
  preview: "rc",
};

/** Reads a version, or gives null where PEP 440 does not know what it means. */
export function parseVersion(written: string): Version | null {
  if (written.length > MAX_LENGTH) return null;
  const match = VERSION.exec(written.trim().toLowerCase());
  if (match === null) return null;
  const [, epoch, release = "", phase, preNumber, implicitPost, postWord, postNumber, devWord, devNumber, local] =
    match;
  const knownPhase = phase === undefined ? undefined : PHASES[phase];
  const parts = {
    epoch: Number(epoch ?? 0),
    release: release.split(".").map(Number),
    pre: knownPhase === undefined ? null : { phase: knownPhase, number: Number(preNumber ?? 0) },
    post: postOf(implicitPost, postWord, postNumber),
    dev: devWord === undefined ? null : Number(devNumber ?? 0),
    local:
      local === undefined ? [] : local.split(/[-_.]/).map((part) => (/^\d{1,15}$/.test(part) ? Number(part) : part)),
  };
  return { ...parts, text: write(parts) };
}

/** Negative when `a` is older than `b`, positive when it is newer, 0 when they are the same version. */
export function compareVersions(a: Version, b: Version): number {
  return (
    a.epoch - b.epoch ||
    compareReleases(a.release, b.release) ||
    compareNumbers(preKey(a), preKey(b)) ||
    (a.post ?? -1) - (b.post ?? -1) ||
    compareNumbers([a.dev ?? Number.POSITIVE_INFINITY], [b.dev ?? Number.POSITIVE_INFINITY]) ||
    compareLocals(a.local, b.local)
  );
}

/** Whether it is a version for testers: an alpha, a beta, a candidate or a development version. */
export function isPrerelease({ pre, dev }: Version): boolean {
  return pre !== null || dev !== null;
}

/** The version without what somebody added for themselves after `+`. */
export function publicVersion(version: Version): Version {
  return version.local.length === 0 ? version : withParts(version, { local: [] });
}

/** Epoch and release alone. */
export function baseVersion(version: Version): Version {
  return withParts(version, { pre: null, post: null, dev: null, local: [] });
}

type Parts = Omit<Version, "text">;

function withParts(version: Version, changes: Partial<Parts>): Version {
  const parts = { ...version, ...changes };
  return { ...parts, text: write(parts) };
}

function postOf(implicit?: string, word?: string, number?: string): number | null {
  if (implicit !== undefined) return Number(implicit);
  return word === undefined ? null : Number(number ?? 0);
}

function write({ epoch, release, pre, post, dev, local }: Parts): string {
  return [
    epoch === 0 ? "" : `${epoch}!`,
    release.join("."),
    pre === null ? "" : `${pre.phase}${pre.number}`,
    post === null ? "" : `.post${post}`,
    dev === null ? "" : `.dev${dev}`,
    local.length === 0 ? "" : `+${local.join(".")}`,
  ].join("");
}

/** `1.0` and `1.0.0` are the same release. */
function compareReleases(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A development version comes before every prerelease, and a final or post version after them. */
function preKey({ pre, post, dev }: Version): readonly number[] {
  if (pre !== null) return [["a", "b", "rc"].indexOf(pre.phase), pre.number];
  return post === null && dev !== null ? [-1, 0] : [3, 0];
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    // Subtracting two infinities would give no number at all.
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** Numbers come after words, and a longer one after the one it begins with. */
function compareLocals(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (value === other) continue;
    if (typeof value !== typeof other) return typeof value === "number" ? 1 : -1;
    return value < other ? -1 : 1;
  }
  return a.length - b.length;
}
