import type { WasmGlobal, WasmInstance } from "./engine.js";
import { NO_CEILING, PRIVATE } from "./rewriter/layout.js";

const WASM_PAGE = 65_536;

/**
 * How far the memory of one instance of a metered module may grow: no further than the module says, and than is said here. It can be
 * said anew as often as one likes, which a memory's own maximum cannot. A guest that asks for more is refused, as it would be there.
 */
export class Ceiling {
  private readonly pages: WasmGlobal<bigint>;
  private readonly wanted: WasmGlobal<bigint>;

  constructor({ exports }: WasmInstance) {
    this.pages = exports[PRIVATE.ceiling] as WasmGlobal<bigint>;
    this.wanted = exports[PRIVATE.refused] as WasmGlobal<bigint>;
  }

  /** From now on the memory has so many bytes at most; null for as many as the module says. Nothing is refused so far. */
  set(bytes: number | null): void {
    this.pages.value = BigInt(bytes === null ? NO_CEILING : Math.min(NO_CEILING, Math.floor(bytes / WASM_PAGE)));
    this.wanted.value = 0n;
  }

  /** How large the memory would have become at most, had it been let; 0 when nothing was refused. */
  get refused(): number {
    return Number(this.wanted.value) * WASM_PAGE;
  }
}
