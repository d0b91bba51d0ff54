import type { Hints } from "./charges.js";
import { readConstant } from "./constants.js";
import { type Declarations, EXTERNAL_KINDS, type External } from "./declarations.js";
import { type Layout, NO_CEILING, PRIVATE } from "./layout.js";
import { ModuleError } from "./module-error.js";
import { OP, TYPE } from "./operators.js";
import { Reader } from "./reader.js";
import { SECTION, SECTION_ORDER, type Section, type Sections } from "./sections.js";
import { readGlobalType, readTableType } from "./types.js";
import type { Writer } from "./writer.js";

/** What a rewritten module is put together from. */
export interface Parts {
  readonly source: Uint8Array;
  readonly sections: Sections;
  readonly declarations: Declarations;
  readonly layout: Layout;
  /** All functions, one after the other, the module's own and then ours. */
  readonly code: Uint8Array;
  readonly hints: ReadonlyMap<number, Hints>;
  readonly exports: ReadonlyMap<string, External>;
  readonly maximumPages: number | null;
  /** Under which name the host brings the memory, which the module else has itself. */
  readonly importMemory: MemoryName | null;
  readonly depth: number | null;
  readonly strip: boolean;
  readonly dropData: boolean;
}

export interface MemoryName {
  readonly module: string;
  readonly name: string;
}

/** Custom sections that speak of positions in the code, which are others now. */
const POSITIONAL = /^(?:metadata\.code\.|\.debug_|reloc\.|linking$|sourceMappingURL$|external_debug_info$)/;

const HINT_SECTION = "metadata.code.branch_hint";
const PREAMBLE_BYTES = 8;

/** Writes the whole module: its own sections, ours appended to them, and nothing of its indices changed. */
export function assemble(parts: Parts, writer: Writer): void {
  writer.copy(parts.source, 0, PREAMBLE_BYTES);
  emitCustom(parts, writer, 0);
  for (const id of SECTION_ORDER) {
    if (id === SECTION.code) emitHints(parts, writer);
    emitSection(id, parts, writer);
    emitCustom(parts, writer, id);
  }
}

function emitSection(id: number, parts: Parts, writer: Writer): void {
  const { layout, source } = parts;
  const section = parts.sections.known.get(id);
  switch (id) {
    case SECTION.type:
      append(id, parts, writer, layout.types().length, () => emitTypes(layout, writer));
      return;
    case SECTION.import:
      if (section !== undefined || parts.importMemory !== null) {
        withSize(id, writer, () => emitImports(parts, section, writer));
      }
      return;
    case SECTION.function:
      append(id, parts, writer, layout.helpers.length, () => {
        for (const name of layout.helpers) writer.u32(layout.typeOf(name));
      });
      return;
    case SECTION.table:
      append(id, parts, writer, 1, () => emitHookTable(writer));
      return;
    case SECTION.memory:
      if (section !== undefined && parts.importMemory === null) {
        withSize(id, writer, () => emitMemory(parts, section, writer));
      }
      return;
    case SECTION.global:
      append(id, parts, writer, parts.depth === null ? 3 : 4, () => emitGlobals(parts, writer));
      return;
    case SECTION.export:
      append(id, parts, writer, parts.exports.size, () => emitExports(parts, writer));
      return;
    case SECTION.start:
      return;
    case SECTION.code:
      withSize(id, writer, () => emitCode(parts, writer));
      return;
    case SECTION.data:
      if (section !== undefined) withSize(id, writer, () => emitData(parts, section, writer));
      return;
    default:
      section === undefined ? undefined : withSize(id, writer, () => writer.copy(source, section.start, section.end));
      return;
  }
}

function withSize(id: number, writer: Writer, work: () => void): void {
  writer.byte(id);
  const start = writer.openSize();
  work();
  writer.closeSize(start);
}

/** Writes a section that is a counted list, with some more items at its end. */
function append(id: number, { sections, source }: Parts, writer: Writer, more: number, work: () => void): void {
  const section = sections.known.get(id);
  withSize(id, writer, () => {
    if (section === undefined) writer.u32(more);
    else {
      const reader = new Reader(source, section.start, section.end);
      writer.u32(reader.u32() + more);
      writer.copy(source, reader.position, section.end);
    }
    work();
  });
}

function emitCode({ declarations, layout, code }: Parts, writer: Writer): void {
  writer.u32(declarations.functions.length - declarations.importedFunctions + layout.helpers.length);
  writer.copy(code, 0, code.length);
}

function emitTypes(layout: Layout, writer: Writer): void {
  for (const { params, results } of layout.types()) {
    writer.byte(TYPE.func);
    for (const list of [params, results]) {
      writer.u32(list.length);
      for (const type of list) writer.byte(type);
    }
  }
}

/** Copies the imports; an imported memory gets the maximum, so that no larger one can be given to the module. */
function emitImports(parts: Parts, section: Section | undefined, writer: Writer): void {
  const { source, maximumPages, importMemory } = parts;
  const reader = section === undefined ? null : new Reader(source, section.start, section.end);
  const count = reader?.u32() ?? 0;
  writer.u32(count + (importMemory === null ? 0 : 1));
  for (let index = 0; reader !== null && index < count; index += 1) {
    const start = reader.position;
    reader.name();
    reader.name();
    const kind = reader.byte();
    if (kind === 2) {
      if (importMemory !== null) throw ModuleError.unsupported("a memory that the host brings already,", start);
      writer.copy(source, start, reader.position);
      emitMemoryType(reader, writer, maximumPages);
      continue;
    }
    if (kind === 0) reader.u32();
    else if (kind === 1) readTableType(reader);
    else readGlobalType(reader);
    writer.copy(source, start, reader.position);
  }
  if (importMemory !== null) emitMemoryImport(parts, importMemory, writer);
}

/** The memory that the module had itself, as one that it is given. Its index stays the same: there is only one. */
function emitMemoryImport(
  { source, sections, maximumPages }: Parts,
  { module, name }: MemoryName,
  writer: Writer,
): void {
  const section = sections.known.get(SECTION.memory);
  const reader = section === undefined ? null : new Reader(source, section.start, section.end);
  if (reader === null || reader.u32() !== 1) throw ModuleError.unsupported("no memory that the host could bring,", 0);
  for (const text of [module, name]) {
    const bytes = new TextEncoder().encode(text);
    writer.u32(bytes.length);
    writer.copy(bytes, 0, bytes.length);
  }
  writer.byte(2);
  emitMemoryType(reader, writer, maximumPages);
}

function emitMemory({ source, maximumPages }: Parts, section: Section, writer: Writer): void {
  const reader = new Reader(source, section.start, section.end);
  const count = reader.u32();
  writer.u32(count);
  for (let index = 0; index < count; index += 1) emitMemoryType(reader, writer, maximumPages);
}

function emitMemoryType(reader: Reader, writer: Writer, maximumPages: number | null): void {
  const position = reader.position;
  const flags = reader.byte();
  const minimum = reader.u32();
  const maximum = flags === 1 ? reader.u32() : null;
  const bound = maximumPages === null ? maximum : Math.min(maximum ?? maximumPages, maximumPages);
  if (bound !== null && minimum > bound) {
    throw ModuleError.unsupported(
      `${minimum} pages of memory from the start, more than the ${bound} it may have`,
      position,
    );
  }
  writer.byte(bound === null ? 0 : 1);
  writer.u32(minimum);
  if (bound !== null) writer.u32(bound);
}

/** A table of one place, in which the host puts the function that gives more fuel. */
function emitHookTable(writer: Writer): void {
  writer.byte(TYPE.funcref);
  writer.byte(1);
  writer.u32(1);
  writer.u32(1);
}

/**
 * The counter begins at nothing, and the place of the hook is empty: a module that no host has begun stops at once. Its memory
 * may grow as far as any can, until somebody says less.
 */
function emitGlobals({ depth }: Parts, writer: Writer): void {
  for (const value of [0, NO_CEILING, 0]) emitGlobal(writer, TYPE.i64, OP.i64Const, value);
  if (depth !== null) emitGlobal(writer, TYPE.i32, OP.i32Const, depth);
}

function emitGlobal(writer: Writer, type: number, constant: number, value: number): void {
  writer.byte(type);
  writer.byte(1);
  writer.byte(constant);
  writer.signed(value);
  writer.byte(OP.end);
}

function emitExports({ exports }: Parts, writer: Writer): void {
  for (const [name, { kind, index }] of exports) {
    writer.name(name);
    writer.byte(EXTERNAL_KINDS.indexOf(kind));
    writer.u32(index);
  }
}

/** Copies the data segments. Those that would fill the memory at the start keep their place and lose their bytes. */
function emitData({ source, declarations, dropData }: Parts, section: Section, writer: Writer): void {
  if (!dropData) {
    writer.copy(source, section.start, section.end);
    return;
  }
  const reader = new Reader(source, section.start, section.end);
  const count = reader.count("data segments");
  writer.u32(count);
  for (let index = 0; index < count; index += 1) {
    const start = reader.position;
    const flags = reader.u32();
    if (flags > 2) throw reader.fault("a data segment has unknown flags");
    if (flags === 2 && reader.u32() !== 0) throw ModuleError.unsupported("multi-memory", start);
    if (flags !== 1) readConstant(reader, declarations);
    const head = reader.position;
    reader.skip(reader.u32());
    writer.copy(source, start, flags === 1 ? reader.position : head);
    if (flags !== 1) writer.u32(0);
  }
  reader.finish("the data section");
}

function emitCustom({ sections, source, strip }: Parts, writer: Writer, after: number): void {
  if (strip) return;
  for (const section of sections.custom) {
    if (section.after !== after || POSITIONAL.test(section.name)) continue;
    withSize(SECTION.custom, writer, () => writer.copy(source, section.start, section.end));
  }
}

/** Says for each branch that was noted that it is unlikely: then the engine moves what is behind it out of the way. */
function emitHints({ hints }: Parts, writer: Writer): void {
  if (hints.size === 0) return;
  withSize(SECTION.custom, writer, () => {
    writer.name(HINT_SECTION);
    writer.u32(hints.size);
    for (const [index, positions] of hints) {
      writer.u32(index);
      writer.u32(positions.length);
      for (const position of positions) {
        writer.u32(position);
        writer.u32(1);
        writer.byte(0);
      }
    }
  });
}

/** The exports that the host needs to meter an instance. */
export function privateExports({ start }: Declarations, layout: Layout, countsDepth: boolean): [string, External][] {
  const exports: [string, External][] = [
    [PRIVATE.fuel, { kind: "global", index: layout.fuel }],
    [PRIVATE.hooks, { kind: "table", index: layout.hooks }],
    [PRIVATE.ceiling, { kind: "global", index: layout.ceiling }],
    [PRIVATE.refused, { kind: "global", index: layout.refused }],
  ];
  if (countsDepth) exports.push([PRIVATE.depth, { kind: "global", index: layout.depth }]);
  if (start !== null) exports.push([PRIVATE.start, { kind: "function", index: start }]);
  return exports;
}
