// The architecture as rules for dependency-cruiser: `npm run check:architecture`.

/** The folders in the `src` of each package: which of the same package they may import, and what from outside. */
const layers = {
  "packages/bursar": {
    core: { imports: [], outside: "nothing" },
    "json-schema": { imports: ["core"], outside: "packages" },
    ports: { imports: ["core"], outside: "nothing" },
    runtime: { imports: ["ports", "core"], outside: "node" },
    foresight: { imports: ["ports", "core"], outside: "nothing" },
    runs: { imports: ["json-schema", "foresight", "runtime", "ports", "core"], outside: "packages" },
    stores: { imports: ["runs", "foresight", "runtime", "ports", "core"], outside: "packages" },
    ambient: { imports: ["stores", "runs", "foresight", "runtime", "ports", "core"], outside: "node" },
    models: { imports: ["runs", "foresight", "runtime", "ports", "core"], outside: "packages" },
    http: { imports: ["core"], outside: "node" },
    gateway: { imports: ["http", "models", "runs", "foresight", "runtime", "ports", "core"], outside: "packages" },
    config: { imports: ["json-schema", "runs", "foresight", "runtime", "ports", "core"], outside: "packages" },
    plans: { imports: ["runs", "foresight", "runtime", "ports", "core"], outside: "packages" },
    controller: { imports: ["runs", "foresight", "runtime", "ports", "core"], outside: "packages" },
    prompt: { imports: ["models", "runs", "foresight", "runtime", "ports", "core"], outside: "packages" },
    testing: { imports: ["runs", "foresight", "runtime", "ports", "core"], outside: "packages" },
    views: { imports: ["runs", "foresight", "runtime", "ports", "core"], outside: "node" },
    server: {
      imports: ["json-schema", "http", "views", "gateway", "models", "runs", "foresight", "runtime", "ports", "core"],
      outside: "packages",
    },
  },
  "packages/sandbox": {
    guests: { imports: [], outside: "nothing" },
    analysis: { imports: ["guests"], outside: "nothing" },
    wasm: { imports: [], outside: "packages" },
    archive: { imports: [], outside: "packages" },
    wasi: { imports: ["archive", "wasm"], outside: "packages" },
    packages: { imports: ["archive"], outside: "packages" },
    python: { imports: ["guests", "wasi", "wasm"], outside: "packages" },
    javascript: { imports: ["guests", "wasi", "wasm"], outside: "packages" },
    sessions: {
      imports: ["python", "javascript", "packages", "wasi", "wasm", "guests", "analysis"],
      outside: "packages",
    },
  },
  "apps/cli": {
    app: { imports: [], outside: "packages" },
    arguments: { imports: ["app", "render"], outside: "packages" },
    render: { imports: ["app"], outside: "packages" },
    terminal: { imports: ["arguments", "render", "app"], outside: "packages" },
    mcp: { imports: ["render", "app"], outside: "packages" },
    demo: { imports: ["terminal", "render", "app"], outside: "packages" },
    serve: { imports: ["demo", "mcp", "app"], outside: "packages" },
    tui: { imports: ["terminal", "render", "app"], outside: "packages" },
    commands: {
      imports: ["demo", "tui", "serve", "mcp", "terminal", "arguments", "render", "app"],
      outside: "packages",
    },
  },
  "apps/web": {
    api: { imports: [], outside: "packages" },
    format: { imports: [], outside: "packages" },
    router: { imports: [], outside: "packages" },
    parts: { imports: ["api", "format"], outside: "packages" },
    panels: { imports: ["parts", "router", "format", "api"], outside: "packages" },
    pages: { imports: ["panels", "parts", "router", "format", "api"], outside: "packages" },
    shell: { imports: ["pages", "panels", "parts", "router", "format", "api"], outside: "packages" },
  },
};

const forbiddenOutside = {
  nothing: ["core", "npm", "npm-dev", "npm-optional", "npm-peer"],
  node: ["npm", "npm-dev", "npm-optional", "npm-peer"],
};

function layerRules([folder, names]) {
  return Object.entries(names).flatMap(([name, { imports, outside }]) => {
    const from = { path: `^${folder}/src/${name}/` };
    const allowed = [name, ...imports].join("|");
    const arrow = {
      name: `${folder}:${name}`,
      comment: `${name} may import ${imports.length === 0 ? "no other folder" : imports.join(", ")}`,
      severity: "error",
      from,
      to: { path: `^${folder}/src/`, pathNot: `^${folder}/src/(?:${allowed})/` },
    };
    const dependencyTypes = forbiddenOutside[outside];
    if (dependencyTypes === undefined) return [arrow];
    return [
      arrow,
      {
        name: `${folder}:${name}, outside`,
        comment: `${name} may import ${outside === "node" ? "Node's own modules" : "nothing"} from outside`,
        severity: "error",
        from,
        to: { dependencyTypes },
      },
    ];
  });
}

export default {
  forbidden: [
    {
      name: "no-file-cycles",
      comment: "Files must not import each other. Imports of types do not count: they are gone when the program runs.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "no-folder-cycles",
      comment: "Folders must not import each other.",
      severity: "error",
      scope: "folder",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-escape",
      comment: "Reach another package by its name, and by what its exports map makes public.",
      severity: "error",
      from: { path: "^((?:packages|apps)/[^/]+)/src/" },
      to: {
        path: "^(?:packages|apps|test|bench|specs|examples)/",
        pathNot: "^(?:$1/(?:src/|package\\.json$)|packages/sandbox/guest/)|^(?:packages|apps)/[^/]+/node_modules/",
      },
    },
    {
      name: "no-unresolved",
      comment: "An import has to lead somewhere.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    ...Object.entries(layers).flatMap(layerRules),
  ],
  options: {
    tsPreCompilationDeps: "specify",
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(?:packages|apps)/[^/]+/dist/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node"] },
  },
};
