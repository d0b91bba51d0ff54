const KIB = 1024n;

/** As the specification has it, where 10 MB are 10,485,760 bytes: a KB is 1024 bytes, and so is a KiB. */
const SIZES: Readonly<Record<string, bigint>> = {
  b: 1n,
  kb: KIB,
  kib: KIB,
  mb: KIB ** 2n,
  mib: KIB ** 2n,
  gb: KIB ** 3n,
  gib: KIB ** 3n,
  tb: KIB ** 4n,
  tib: KIB ** 4n,
};

const TIMES: Readonly<Record<string, bigint>> = {
  ms: 1n,
  s: 1000n,
  min: 60_000n,
  m: 60_000n,
  h: 3_600_000n,
  d: 86_400_000n,
};

/** Units a number may be written with. */
export type UnitKind = "size" | "time";

const UNITS: Readonly<Record<UnitKind, { readonly table: Readonly<Record<string, bigint>>; readonly form: RegExp }>> = {
  // In `Mb` the b would be bits, so a small b goes only with small letters.
  size: { table: SIZES, form: /^(\d{1,16})(?:\.(\d{1,9}))?\s?(B|[KMGTk](?:i?B)|b|[kmgt]i?b)$/ },
  time: { table: TIMES, form: /^(\d{1,16})(?:\.(\d{1,9}))?\s?(ms|s|min|m|h|d)$/ },
};

/** The same forms as patterns of JSON Schema. */
export const UNIT_PATTERNS: Readonly<Record<UnitKind, string>> = {
  size: UNITS.size.form.source,
  time: UNITS.time.form.source,
};

/** How such a number is written, for messages. */
export const UNIT_EXAMPLES: Readonly<Record<UnitKind, string>> = {
  size: "a size such as 10MB or 512 KiB",
  time: "a time such as 500ms, 60s, 5m or 2h",
};

/** Reads `10 MiB` as bytes and `60s` as milliseconds, exactly; null when it is neither, or no whole number of them. */
export function readUnits(text: string, kind: UnitKind): number | null {
  const { table, form } = UNITS[kind];
  const [, whole, fraction = "", unit = ""] = form.exec(text) ?? [];
  const factor = table[unit.toLowerCase()];
  if (whole === undefined || factor === undefined) return null;
  const scaled = BigInt(whole + fraction) * factor;
  const divisor = 10n ** BigInt(fraction.length);
  return scaled % divisor === 0n ? Number(scaled / divisor) : null;
}
