import type { MeterOptions } from "@bursar/wasm-fuel";
import { assemble, privateExports } from "../../../packages/wasm-fuel/dist/rewriter/assemble.js";
import { type External, readDeclarations } from "../../../packages/wasm-fuel/dist/rewriter/declarations.js";
import { emitHelper } from "../../../packages/wasm-fuel/dist/rewriter/helpers.js";
import { Layout } from "../../../packages/wasm-fuel/dist/rewriter/layout.js";
import { Reader } from "../../../packages/wasm-fuel/dist/rewriter/reader.js";
import { readSections, SECTION } from "../../../packages/wasm-fuel/dist/rewriter/sections.js";
import { Writer } from "../../../packages/wasm-fuel/dist/rewriter/writer.js";

/**
 * The module that `meter` would make if it left the code alone: stripped, with the same memory and the same exports, so that
 * the same hosts take it, and not one function of the guest changed. Its counter is there, and only the host ever charges it.
 */
export function unmetered(
  wasm: Uint8Array,
  { expose = [], maximumPages, dropData = false }: Pick<MeterOptions, "expose" | "maximumPages" | "dropData">,
): Uint8Array {
  const sections = readSections(wasm);
  const declarations = readDeclarations(wasm, sections);
  const layout = new Layout(declarations);
  const code = sections.known.get(SECTION.code);
  if (code === undefined) throw new Error("the module has no code; there is nothing to compare");
  const reader = new Reader(wasm, code.start, code.end);
  reader.u32();
  const functions = new Writer(wasm.length);
  functions.copy(wasm, reader.position, code.end);
  for (const name of layout.helpers) emitHelper(name, functions, layout);
  const exports = new Map<string, External>([
    ...privateExports(declarations, layout, false),
    ...expose.filter(({ name }) => !declarations.exports.has(name)).map(nameAndPlace),
  ]);
  const writer = new Writer(wasm.length);
  assemble(
    {
      source: wasm,
      sections,
      declarations,
      layout,
      exports,
      dropData,
      importMemory: null,
      code: functions.written(),
      hints: new Map(),
      maximumPages: maximumPages ?? null,
      depth: null,
      strip: true,
    },
    writer,
  );
  return writer.written().slice();
}

function nameAndPlace({ name, kind, index }: NonNullable<MeterOptions["expose"]>[number]): [string, External] {
  return [name, { kind, index }];
}
