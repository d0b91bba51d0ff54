/** The root shows the product; whoever adds to it says here what it is. */
const ROOT: Readonly<Record<string, string>> = {
  ".ci": "what the build server runs",
  ".gitignore": "what git leaves out",
  ".npmrc": "how npm installs",
  "CHANGELOG.md": "what changed, for users",
  "CONTRIBUTING.md": "how to take part",
  "GLOSSARY.md": "our words",
  LICENSE: "what others may do with it",
  "README.md": "where to begin",
  "SECURITY.md": "whom to tell",
  apps: "what people run",
  bench: "how fast it is",
  "biome.json": "format and lint",
  docs: "how to use it",
  examples: "programs to start from",
  "knip.json": "dead code",
  "package-lock.json": "exact versions",
  "package.json": "the workspace and its scripts",
  packages: "what people install",
  specs: "what it has to do",
  test: "checks of the repository itself",
  "tsconfig.base.json": "how strict the compiler is",
  "tsconfig.json": "what is built",
  "tsconfig.tests.json": "types of the tests",
  "vitest.config.ts": "how tests run",
};

/** A package exists only where its install footprint differs. */
const WORKSPACES: Readonly<Record<string, readonly string[]>> = {
  packages: ["bursar", "sandbox"],
  apps: ["cli", "web"],
};

/** Files and folders whose purpose a reader would have to guess. */
export function findStrayEntries(files: readonly string[]): readonly string[] {
  const strays = files.flatMap((file) => {
    const stray = strayPart(file.split("/"));
    return stray === null ? [] : [stray];
  });
  return [...new Set(strays)].map(
    (path) => `${path}:1 has no place in the design; move or delete it, or say what it is in test/tidy/places.ts`,
  );
}

function strayPart([first = "", second = ""]: readonly string[]): string | null {
  if (ROOT[first] === undefined) return first;
  const names = WORKSPACES[first];
  if (names !== undefined && !names.includes(second)) return `${first}/${second}`;
  return first === "docs" && second.includes(".") && !/\.(?:md|svg|png)$/.test(second) ? `${first}/${second}` : null;
}
