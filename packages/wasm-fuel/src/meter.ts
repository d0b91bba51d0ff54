import type { Profile } from "./profile.js";
import { assemble, type MemoryName, privateExports } from "./rewriter/assemble.js";
import type { Hints } from "./rewriter/charges.js";
import { COSTS } from "./rewriter/costs.js";
import { countOf, type Declarations, type External, readDeclarations } from "./rewriter/declarations.js";
import { Emitter } from "./rewriter/emit.js";
import { type Body, Graph } from "./rewriter/graph.js";
import { emitHelper } from "./rewriter/helpers.js";
import { Layout } from "./rewriter/layout.js";
import { ModuleError } from "./rewriter/module-error.js";
import { makePlan, type Optimisations, type Plan } from "./rewriter/plan.js";
import { Reader } from "./rewriter/reader.js";
import { Scanner } from "./rewriter/scan.js";
import { readSections, SECTION, type Sections } from "./rewriter/sections.js";
import { MOST_PAGES } from "./rewriter/types.js";
import { Writer } from "./rewriter/writer.js";

/**
 * What the rewriter does with a module, where that is not fixed by the cost table. It goes up when the same module would stop
 * at another place: totals stay, but where a budget ends within a run may move.
 */
const REWRITER_VERSION = "2";

/** Names the cost table and the rewriter. Fuel figures of the same version, profile, module and input are the same everywhere. */
export const METER_VERSION: string = `${COSTS.version}.${REWRITER_VERSION}`;

/**
 * What a rewritten module has beside its fuel. It goes up with every change there, so that none is used that was kept before;
 * fuel figures are the same.
 */
export const ADDITIONS = "1";

/** Something of the module to be exported, by its index. */
interface Exposure extends External {
  readonly name: string;
}

export interface MeterOptions {
  /** The most pages of 64 KiB that the memory may have. */
  readonly maximumPages?: number;
  /** How many calls of functions on circles may be open at once. Absent: they are not counted. */
  readonly depth?: number;
  /** Leaves out custom sections, such as names and debugging information. On by default. */
  readonly strip?: boolean;
  /** Leaves out the bytes that fill the memory at the start: the host brings a memory image instead. */
  readonly dropData?: boolean;
  /** The host brings the memory, under this name; absent, the module has its own. */
  readonly importMemory?: MemoryName;
  /** Parts of the module to be exported, such as its table and the global with its stack pointer. */
  readonly expose?: readonly Exposure[];
  /** Switches for what makes metering fast; all are on by default. */
  readonly optimise?: Partial<Optimisations>;
  /** How often the module's edges ran in a training; without one it is guessed. Where a budget ends within a run may move with it. */
  readonly profile?: Profile | null;
}

const ALL_ON: Optimisations = { potentials: true, fold: true, regions: true, cut: true, hints: true };

/** Room for what is not code; more is made when it is needed. */
const SPARE_BYTES = 2 ** 20;

const MOST_DEPTH = 2 ** 31 - 1;

/**
 * Rewrites a module so that it counts what it executes, by the published cost table, and asks the host for more whenever a slice
 * is used up. The result imports what the original imported; a `Fuel` has to be bound to each instance before it can run. A
 * start function is not run at instantiation, where nothing could stop it: `Fuel.start` runs it.
 *
 * ```ts
 * const module = await WebAssembly.compile(meter(bytes, { maximumPages: 4096, depth: 400 }));
 * ```
 *
 * @throws {ModuleError} when the bytes are no module, or use a feature that is not metered.
 * @throws {RangeError} when an option makes no sense, or the profile is that of another module.
 */
export function meter(wasm: Uint8Array, options: MeterOptions = {}): Uint8Array {
  return rewrite(wasm, options, Emitter).wasm;
}

export interface Rewritten {
  readonly wasm: Uint8Array;
  /** How many edges the module has, as a profile numbers them. */
  readonly edges: number;
}

/** Reads a module, and writes it anew with what an emitter puts between its operators. */
export function rewrite(wasm: Uint8Array, options: MeterOptions, emitter: typeof Emitter): Rewritten {
  checkOptions(options);
  const sections = readSections(wasm);
  const declarations = readDeclarations(wasm, sections);
  const optimisations = { ...ALL_ON, ...options.optimise };
  const layout = new Layout(declarations);
  const exports = exportsOf(declarations, layout, options);
  const { graph, bodies } = scanCode(wasm, sections, declarations);
  const isRoot = (index: number) => {
    const functionIndex = declarations.importedFunctions + index;
    return declarations.taken[functionIndex] === 1 || declarations.start === functionIndex;
  };
  const plan = makePlan(graph, bodies, isRoot, optimisations, fitting(options.profile ?? null, graph));
  const codeWriter = new Writer(codeBytes(plan) + SPARE_BYTES);
  const countsDepth = options.depth !== undefined;
  const { code, hints } = emitCode(
    new emitter(wasm, codeWriter, declarations, layout, plan, countsDepth),
    codeWriter,
    layout,
    plan,
  );
  const writer = new Writer(code.length + SPARE_BYTES);
  assemble(
    {
      source: wasm,
      sections,
      declarations,
      layout,
      code,
      hints: optimisations.hints ? hints : new Map(),
      exports,
      maximumPages: options.maximumPages ?? null,
      importMemory: options.importMemory ?? null,
      depth: options.depth ?? null,
      strip: options.strip ?? true,
      dropData: options.dropData ?? false,
    },
    writer,
  );
  return { wasm: writer.written().slice(), edges: graph.edges };
}

/**
 * The size is all that is looked at: whoever keeps a profile knows by hashes which module it belongs to, and one that is wrong costs
 * time and nothing else.
 */
function fitting(profile: Profile | null, { edges }: Graph): Profile | null {
  if (profile === null || profile.levels.length === edges) return profile;
  throw new RangeError(`the profile is of ${profile.levels.length} edges, and the module has ${edges}; record it anew`);
}

function checkOptions({ maximumPages = 1, depth = 1 }: MeterOptions): void {
  if (!isWhole(maximumPages, MOST_PAGES))
    throw new RangeError(`maximumPages is ${maximumPages}; give 0 to ${MOST_PAGES}`);
  if (!isWhole(depth, MOST_DEPTH)) throw new RangeError(`depth is ${depth}; give 0 to ${MOST_DEPTH}`);
}

function isWhole(value: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= most;
}

/** All exports that we add. What the module exports under the same name already is left as it is. */
function exportsOf(
  declarations: Declarations,
  layout: Layout,
  { expose = [], depth }: MeterOptions,
): ReadonlyMap<string, External> {
  const added = new Map<string, External>();
  for (const [name, external] of privateExports(declarations, layout, depth !== undefined)) {
    if (declarations.exports.has(name))
      throw ModuleError.unsupported(`an export named ${name}, as a metered module has,`, 0);
    added.set(name, external);
  }
  for (const { name, kind, index } of expose) {
    const known = declarations.exports.get(name) ?? added.get(name);
    if (known?.kind === kind && known.index === index) continue;
    if (known !== undefined)
      throw new RangeError(`${name} is already the name of another export; expose it by another one`);
    if (!isWhole(index, countOf(kind, declarations) - 1))
      throw new RangeError(`the module has no ${kind} ${index} to expose`);
    if (kind === "function")
      throw new RangeError(`function ${index} cannot be exposed; export it when the guest is compiled`);
    added.set(name, { kind, index });
  }
  return added;
}

interface Scanned {
  readonly graph: Graph;
  readonly bodies: readonly Body[];
}

function scanCode(wasm: Uint8Array, sections: Sections, declarations: Declarations): Scanned {
  const section = sections.known.get(SECTION.code) ?? { start: wasm.length, end: wasm.length };
  const reader = new Reader(wasm, section.start, section.end);
  const graph = new Graph(section.end - section.start);
  const scanner = new Scanner(graph, declarations, reader);
  const bodies: Body[] = [];
  const own = declarations.functions.slice(declarations.importedFunctions);
  const count = sections.known.has(SECTION.code) ? reader.u32() : 0;
  if (count !== own.length) throw reader.fault(`there are ${own.length} functions, and code for ${count}`);
  for (const signature of own) {
    const size = reader.u32();
    bodies.push(scanner.scan(signature, reader.position + size));
  }
  reader.finish("the code section");
  return { graph, bodies };
}

/** About how large the code gets. */
function codeBytes({ bodies, graph }: Plan): number {
  return (bodies.at(-1)?.end ?? 0) - (bodies[0]?.start ?? 0) + graph.edges * 8;
}

function emitCode(
  emitter: Emitter,
  writer: Writer,
  layout: Layout,
  { bodies }: Plan,
): { readonly code: Uint8Array; readonly hints: ReadonlyMap<number, Hints> } {
  for (let index = 0; index < bodies.length; index += 1) emitter.emit(index);
  for (const name of layout.helpers) {
    const hints = emitHelper(name, writer, layout);
    if (hints.length > 0) emitter.hints.set(layout.helper(name), hints);
  }
  return { code: writer.written(), hints: emitter.hints };
}
