/** A layer or a group of adapters: a folder in the `src` of a package. */
export interface Room {
  /** The rooms of the same package that it may import. */
  readonly imports: readonly string[];
  /** What it may import from outside: nothing, the built-ins of Node, or packages too. */
  readonly world: "nothing" | "node" | "packages";
}

/** A package or app of this repository. */
export interface Package {
  readonly name: string;
  readonly folder: string;
  /** What others may import: the keys of its exports map, written out. */
  readonly publicNames: readonly string[];
}

/** Adapters stand side by side and do not know each other; what two of them need belongs into the runtime or below. */
const ADAPTER: Room = { imports: ["runs", "foresight", "runtime", "ports", "core"], world: "packages" };

/** The arrows of the design: apps → adapters and facades → runs → runtime → ports → core. */
export const ROOMS: Readonly<Record<string, Readonly<Record<string, Room>>>> = {
  "packages/bursar": {
    core: { imports: [], world: "nothing" },
    ports: { imports: ["core"], world: "nothing" },
    runtime: { imports: ["ports", "core"], world: "node" },
    foresight: { imports: ["ports", "core"], world: "nothing" },
    "json-schema": { imports: ["core"], world: "packages" },
    // Its one package is @standard-schema/spec, which is types alone.
    runs: { imports: ["json-schema", "foresight", "runtime", "ports", "core"], world: "packages" },
    stores: ADAPTER,
    ambient: { imports: ["stores", ...ADAPTER.imports], world: "node" },
    models: ADAPTER,
    // Both go through the meter, which belongs to the models.
    gateway: { imports: ["models", ...ADAPTER.imports], world: "packages" },
    config: ADAPTER,
    plans: ADAPTER,
    controller: ADAPTER,
    prompt: { imports: ["models", ...ADAPTER.imports], world: "packages" },
    testing: ADAPTER,
    // What faces show; they import it, and it imports none of them.
    views: { imports: ["runs", "foresight", "runtime", "ports", "core"], world: "node" },
    // Of the models it needs how deep a JSON text is nested, as the gateway does.
    server: {
      imports: ["views", "gateway", "models", "runs", "json-schema", "foresight", "runtime", "ports", "core"],
      world: "node",
    },
  },
  "packages/sandbox": {
    guests: { imports: [], world: "nothing" },
    analysis: { imports: ["guests"], world: "nothing" },
    wasm: { imports: [], world: "packages" },
    archive: { imports: [], world: "packages" },
    wasi: { imports: ["archive", "wasm"], world: "packages" },
    packages: { imports: ["archive"], world: "packages" },
    python: { imports: ["guests", "wasi", "wasm"], world: "packages" },
    javascript: { imports: ["guests", "wasi", "wasm"], world: "packages" },
    sessions: {
      imports: ["python", "javascript", "packages", "wasi", "wasm", "guests", "analysis"],
      world: "packages",
    },
  },
};

/** Folders of pure decisions: what they know of the world is passed in. */
export const PURE: readonly string[] = ["packages/bursar/src/core/", "packages/sandbox/src/analysis/"];

/** The one pure folder that may wait, because hashing is asynchronous on some platforms. */
export const WAITING: readonly string[] = ["packages/bursar/src/core/chain/"];

/** Reads what a package makes public from its `package.json`. */
export function packageOf(folder: string, manifest: string): Package {
  const { name, exports = {} }: { name: string; exports?: Record<string, unknown> } = JSON.parse(manifest);
  return { name, folder, publicNames: Object.keys(exports).map((key) => `${name}${key.slice(1)}`) };
}
