import { ModuleError } from "./module-error.js";
import { Reader } from "./reader.js";

export const SECTION = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
} as const;

/** The order in which sections have to stand; that of data segments was added late, and stands before the code. */
export const SECTION_ORDER: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11];

const TAG_SECTION = 13;
const PREAMBLE = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00] as const;
const MAGIC_BYTES = 4;

/** Where the contents of a section are. */
export interface Section {
  readonly start: number;
  readonly end: number;
}

interface CustomSection extends Section {
  readonly name: string;
  /** The section that it follows, or 0 at the beginning. */
  readonly after: number;
}

export interface Sections {
  readonly known: ReadonlyMap<number, Section>;
  readonly custom: readonly CustomSection[];
}

/** Finds the sections of a module. Two of a kind, or the wrong order, would become valid by rewriting, so they are refused. */
export function readSections(bytes: Uint8Array): Sections {
  checkPreamble(bytes);
  const known = new Map<number, Section>();
  const custom: CustomSection[] = [];
  const reader = new Reader(bytes, PREAMBLE.length, bytes.length);
  let [rank, after] = [-1, 0];
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const size = reader.u32();
    const start = reader.position;
    reader.skip(size);
    const section = { start, end: reader.position };
    if (id === SECTION.custom) {
      custom.push({ ...section, name: new Reader(bytes, start, section.end).name(), after });
      continue;
    }
    if (id === TAG_SECTION) throw ModuleError.unsupported("exceptions", start);
    const next = SECTION_ORDER.indexOf(id);
    if (next < 0) throw ModuleError.malformed(`there is no section ${id}`, start);
    if (next <= rank) throw ModuleError.malformed(`section ${id} stands twice or in the wrong place`, start);
    known.set(id, section);
    [rank, after] = [next, id];
  }
  return { known, custom };
}

function checkPreamble(bytes: Uint8Array): void {
  const fits = (length: number) => PREAMBLE.slice(0, length).every((byte, index) => bytes[index] === byte);
  if (!fits(MAGIC_BYTES)) throw ModuleError.malformed("it does not begin with \\0asm", 0);
  if (!fits(PREAMBLE.length)) throw ModuleError.malformed("it is not version 1 of the binary format", MAGIC_BYTES);
}
