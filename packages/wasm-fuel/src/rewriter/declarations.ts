import { readConstant } from "./constants.js";
import { ModuleError } from "./module-error.js";
import { Reader } from "./reader.js";
import { SECTION, type Section, type Sections } from "./sections.js";
import {
  type Limits,
  readGlobalType,
  readMemoryType,
  readReferenceType,
  readSignature,
  readTableType,
  type Signature,
} from "./types.js";

export const EXTERNAL_KINDS = ["function", "table", "memory", "global"] as const;
export type ExternalKind = (typeof EXTERNAL_KINDS)[number];

export interface External {
  readonly kind: ExternalKind;
  readonly index: number;
}

/** Everything that a module says about itself outside of its code. All indices in it have been checked. */
export interface Declarations {
  readonly signatures: readonly Signature[];
  readonly importedFunctions: number;
  /** The index of the signature of every function, the imported ones first. */
  readonly functions: readonly number[];
  readonly tables: number;
  readonly memory: (Limits & { readonly isImported: boolean }) | null;
  readonly globals: number;
  readonly exports: ReadonlyMap<string, External>;
  readonly start: number | null;
  /** 1 for functions that can be reached other than by a direct call: exported, in a table, or referred to by a global. */
  readonly taken: Uint8Array;
}

interface Draft {
  signatures: Signature[];
  importedFunctions: number;
  functions: number[];
  tables: number;
  memory: (Limits & { readonly isImported: boolean }) | null;
  globals: number;
  exports: Map<string, External>;
  start: number | null;
  taken: Uint8Array;
}

type Part = (reader: Reader, draft: Draft) => void;

/** Reads the declarations, each section to its last byte: what we append to a section must not hide what is wrong with it. */
export function readDeclarations(bytes: Uint8Array, sections: Sections): Declarations {
  const draft: Draft = {
    signatures: [],
    importedFunctions: 0,
    functions: [],
    tables: 0,
    memory: null,
    globals: 0,
    exports: new Map(),
    start: null,
    taken: new Uint8Array(0),
  };
  for (const [id, part] of PARTS) {
    const section: Section | undefined = sections.known.get(id);
    if (section !== undefined) {
      const reader = new Reader(bytes, section.start, section.end);
      part(reader, draft);
      reader.finish(`section ${id}`);
    }
    if (id === SECTION.function) draft.taken = new Uint8Array(draft.functions.length);
  }
  return draft;
}

const PARTS: readonly (readonly [number, Part])[] = [
  [SECTION.type, readTypes],
  [SECTION.import, readImports],
  [SECTION.function, readFunctions],
  [SECTION.table, readTables],
  [SECTION.memory, readMemories],
  [SECTION.global, readGlobals],
  [SECTION.export, readExports],
  [SECTION.start, readStart],
  [SECTION.element, readElements],
];

function readTypes(reader: Reader, { signatures }: Draft): void {
  for (let count = reader.count("types"); count > 0; count -= 1) signatures.push(readSignature(reader));
}

function readImports(reader: Reader, draft: Draft): void {
  for (let count = reader.count("imports"); count > 0; count -= 1) {
    reader.name();
    reader.name();
    const kind = reader.byte();
    if (kind === 0) draft.functions.push(readIndex(reader, draft.signatures.length, "type"));
    else if (kind === 1) {
      readTableType(reader);
      draft.tables += 1;
    } else if (kind === 2) addMemory(reader, draft, true);
    else if (kind === 3) {
      readGlobalType(reader);
      draft.globals += 1;
    } else if (kind === 4) throw ModuleError.unsupported("exceptions", reader.position);
    else throw reader.fault(`there is no kind ${kind} of import`);
  }
  draft.importedFunctions = draft.functions.length;
}

function readFunctions(reader: Reader, { functions, signatures }: Draft): void {
  for (let count = reader.count("functions"); count > 0; count -= 1) {
    functions.push(readIndex(reader, signatures.length, "type"));
  }
}

function readTables(reader: Reader, draft: Draft): void {
  for (let count = reader.count("tables"); count > 0; count -= 1) {
    readTableType(reader);
    draft.tables += 1;
  }
}

function readMemories(reader: Reader, draft: Draft): void {
  for (let count = reader.count("memories"); count > 0; count -= 1) addMemory(reader, draft, false);
}

function addMemory(reader: Reader, draft: Draft, isImported: boolean): void {
  const limits = readMemoryType(reader);
  if (draft.memory !== null) throw ModuleError.unsupported("multi-memory", reader.position);
  draft.memory = { ...limits, isImported };
}

function readGlobals(reader: Reader, draft: Draft): void {
  const count = reader.count("globals");
  draft.globals += count;
  for (let index = 0; index < count; index += 1) {
    readGlobalType(reader);
    readConstant(reader, draft);
  }
}

function readExports(reader: Reader, draft: Draft): void {
  for (let count = reader.count("exports"); count > 0; count -= 1) {
    const name = reader.name();
    const code = reader.byte();
    const kind = EXTERNAL_KINDS[code];
    if (kind === undefined) {
      if (code === 4) throw ModuleError.unsupported("exceptions", reader.position);
      throw reader.fault(`there is no kind ${code} of export`);
    }
    const index = readIndex(reader, countOf(kind, draft), kind);
    if (kind === "function") draft.taken[index] = 1;
    if (draft.exports.has(name)) throw reader.fault(`it exports ${JSON.stringify(name)} twice`);
    draft.exports.set(name, { kind, index });
  }
}

/** How many things of a kind there are. */
export function countOf(
  kind: ExternalKind,
  declared: Pick<Declarations, "functions" | "tables" | "memory" | "globals">,
): number {
  switch (kind) {
    case "function":
      return declared.functions.length;
    case "table":
      return declared.tables;
    case "memory":
      return declared.memory === null ? 0 : 1;
    case "global":
      return declared.globals;
  }
}

function readStart(reader: Reader, draft: Draft): void {
  const index = readIndex(reader, draft.functions.length, "function");
  const signature = draft.signatures[draft.functions[index] ?? -1];
  if (signature?.params !== 0 || signature.results.length !== 0) throw reader.fault("the start function has arguments");
  draft.start = index;
}

/** Element segments: bit 0 says that no table is filled at once, bit 1 names the table or a kind, bit 2 has expressions. */
function readElements(reader: Reader, draft: Draft): void {
  for (let count = reader.count("element segments"); count > 0; count -= 1) {
    const flags = reader.u32();
    if (flags > 7) throw reader.fault("an element segment has unknown flags");
    const hasExpressions = (flags & 4) !== 0;
    if ((flags & 1) === 0) readElementTarget(reader, draft, (flags & 2) !== 0);
    if ((flags & 3) !== 0) readElementType(reader, hasExpressions);
    for (let size = reader.count("elements"); size > 0; size -= 1) {
      if (hasExpressions) readConstant(reader, draft);
      else draft.taken[readIndex(reader, draft.functions.length, "function")] = 1;
    }
  }
}

function readElementTarget(reader: Reader, draft: Draft, isNamed: boolean): void {
  const table = isNamed ? reader.u32() : 0;
  if (table >= draft.tables) throw reader.fault("an element segment fills a table that does not exist");
  readConstant(reader, draft);
}

function readElementType(reader: Reader, hasExpressions: boolean): void {
  if (hasExpressions) readReferenceType(reader);
  else if (reader.byte() !== 0) throw reader.fault("an element segment has an unknown kind");
}

function readIndex(reader: Reader, count: number, what: string): number {
  const index = reader.u32();
  if (index >= count) throw reader.fault(`there is no ${what} ${index}`);
  return index;
}
