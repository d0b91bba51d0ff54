import type { FuelRange } from "./package-figure.js";

interface Unit {
  readonly letter: string;
  readonly size: number;
}

const BILLION: Unit = { letter: "B", size: 1e9 };
const UNITS: readonly Unit[] = [
  BILLION,
  { letter: "M", size: 1e6 },
  { letter: "K", size: 1e3 },
  { letter: "", size: 1 },
];

/** `15B`, `750M`, `6.5B`: to a hundredth of the unit, the way people speak about fuel. */
export function writeFuel(fuel: number): string {
  const unit = unitOf(fuel);
  return `${inUnit(fuel, unit)}${unit.letter}`;
}

/** `5-7B`, `750M-1.2B`, `2B`. */
export function writeRange({ least, most }: FuelRange): string {
  const unit = unitOf(most);
  if (inUnit(least, unit) === inUnit(most, unit)) return writeFuel(most);
  const from = unitOf(least) === unit ? String(inUnit(least, unit)) : writeFuel(least);
  return `${from}-${writeFuel(most)}`;
}

/** `20_000_000_000`, as Python reads it. */
export function writeNumeral(value: number): string {
  const digits = BigInt(value).toString();
  const head = digits.length % 3;
  const groups = head === 0 ? [] : [digits.slice(0, head)];
  for (let at = head; at < digits.length; at += 3) groups.push(digits.slice(at, at + 3));
  return groups.join("_");
}

/** The largest unit that fits. What would be rounded to a thousand of a unit is one of the next. */
function unitOf(fuel: number): Unit {
  return UNITS.find(({ size }) => fuel >= size - size / 200_000) ?? { letter: "", size: 1 };
}

function inUnit(fuel: number, { size }: Unit): number {
  return Math.round((fuel / size) * 100) / 100;
}
