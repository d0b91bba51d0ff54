import fc from "fast-check";

/** What parsers of HTTP trip over. */
const ODD = [
  "",
  "\r",
  "\n",
  "\r\n",
  "\r\n\r\n",
  " ",
  "\t",
  ":",
  ",",
  ";",
  "0",
  "5",
  "a",
  "\0",
  "\x0b",
  "\xff",
  "chunked",
];

/** A change of a message: what is taken out at a place, and put there. */
export interface Change {
  readonly at: number;
  readonly take: number;
  readonly put: string;
}

/** One change, two, or none. */
export const CHANGES: fc.Arbitrary<Change[]> = fc.array(
  fc.record({ at: fc.nat(), take: fc.nat({ max: 2 }), put: fc.constantFrom(...ODD) }),
  { maxLength: 2 },
);

export function changed(message: string, changes: readonly Change[]): string {
  let text = message;
  for (const { at, take, put } of changes) {
    const place = at % text.length;
    text = `${text.slice(0, place)}${put}${text.slice(place + take)}`;
  }
  return text;
}
