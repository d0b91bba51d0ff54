/** A compiled module. It holds no state and can be posted to other threads. */
export type WasmModule = object;

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

export interface WasmGlobal<T extends number | bigint = number | bigint> {
  value: T;
}

export interface WasmTable {
  readonly length: number;
  get(index: number): unknown;
  set(index: number, value: unknown): void;
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** Something that a module imports or exports. */
interface WasmDeclared {
  readonly module?: string;
  readonly name: string;
  readonly kind: string;
}

export type WasmImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** WebAssembly's interface for JavaScript, as far as we use it: Node's types leave it out, and the browser's bring too much. */
export interface Engine {
  readonly Module: {
    new (bytes: Uint8Array): WasmModule;
    imports(module: WasmModule): readonly WasmDeclared[];
    exports(module: WasmModule): readonly WasmDeclared[];
  };
  readonly Instance: new (module: WasmModule, imports?: WasmImports) => WasmInstance;
  readonly Memory: new (limits: { initial: number; maximum?: number }) => WasmMemory;
  readonly Global: new (type: { value: string; mutable?: boolean }, value?: unknown) => WasmGlobal;
  readonly Table: new (limits: { element: string; initial: number; maximum?: number }) => WasmTable;
  readonly CompileError: new (message?: string) => Error;
  readonly RuntimeError: new (message?: string) => Error;
  validate(bytes: Uint8Array): boolean;
  compile(bytes: Uint8Array): Promise<WasmModule>;
}

export const engine: Engine = (globalThis as unknown as { readonly WebAssembly: Engine }).WebAssembly;
