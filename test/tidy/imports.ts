import { posix } from "node:path";
import type { Node } from "oxc-parser";
import { type Package, ROOMS } from "./rooms.js";
import { placeOf, type Source } from "./source.js";

/** An import, a re-export or the import of a type: all of them are arrows. */
interface Import {
  readonly place: string;
  readonly name: string;
}

/** Imports that go up a layer, sideways between adapters, or out into the world where a room may not. */
export function findStrayImports(source: Source): readonly string[] {
  const home = homeOf(source.file);
  if (home === null) return [];
  const room = home.room === "" ? undefined : ROOMS[home.package]?.[home.room];
  if (room === undefined) return home.room === "" || !(home.package in ROOMS) ? [] : [unknownRoom(source.file)];
  const allowed = room.imports.length === 0 ? "nothing else" : `${room.imports.join(", ")}, and nothing else`;
  return importsIn(source).flatMap(({ place, name }) => {
    const target = name.startsWith(".") ? homeOf(resolve(source.file, name)) : null;
    if (target !== null && target.package === home.package) {
      if (target.room === home.room || room.imports.includes(target.room)) return [];
      const where = target.room === "" ? "the package's own face" : target.room;
      return [
        `${place} imports ${name} from ${where}; ${home.room} may import ${allowed}. Move what is shared down a layer`,
      ];
    }
    const builtIn = name.startsWith("node:");
    if (name.startsWith(".") || room.world === "packages" || (room.world === "node" && builtIn)) return [];
    const what = builtIn ? "built-in" : "package";
    return [`${place} imports ${name}; ${home.room} imports no ${what}. Take it in through a port`];
  });
}

/** Relative imports that leave the sources of a package: another one is reached by its public name. Tests and bench may look inside. */
export function findEscapingImports(source: Source): readonly string[] {
  const home = /^(?:packages|apps)\/[^/]+\/src|^examples/.exec(source.file)?.[0];
  if (home === undefined) return [];
  return importsIn(source).flatMap(({ place, name }) => {
    if (!name.startsWith(".") || resolve(source.file, name).startsWith(`${home}/`)) return [];
    return [`${place} imports ${name}, which is outside ${home}; import a package by its public name`];
  });
}

/** Imports of our own packages by name that are not public, that point up, or that hide an arrow behind the package's own name. */
export function findPrivateImports(source: Source, packages: readonly Package[]): readonly string[] {
  const home = /^packages\/[^/]+/.exec(source.file)?.[0];
  return importsIn(source).flatMap(({ place, name }) => {
    const target = packages.find((each) => name === each.name || name.startsWith(`${each.name}/`));
    if (target === undefined) return [];
    if (!target.publicNames.includes(name)) {
      return [
        `${place} imports ${name}, which is not in the exports map of ${target.folder}/package.json; use a public name`,
      ];
    }
    if (source.file.startsWith(`${target.folder}/src/`)) {
      return [`${place} imports ${name}, its own package; import the file, so that the arrow is seen`];
    }
    if (home === undefined || home === target.folder || mayImport(home, target.folder)) return [];
    return [`${place} imports ${name}; ${home} stands below ${target.folder} and may not know it`];
  });
}

/** Among the packages there is one arrow: the sandbox builds on the library. */
function mayImport(from: string, to: string): boolean {
  return from === "packages/sandbox" && to === "packages/bursar";
}

function importsIn(source: Source): readonly Import[] {
  return source.nodes.flatMap(({ node }) => {
    const name = importedBy(node);
    return name === null ? [] : [{ place: placeOf(source, node), name }];
  });
}

function importedBy(node: Node): string | null {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
      return node.source.value;
    case "ExportNamedDeclaration":
      return node.source?.value ?? null;
    case "ImportExpression":
      return node.source.type === "Literal" && typeof node.source.value === "string" ? node.source.value : null;
    case "TSImportType":
      return node.source.value;
    default:
      return null;
  }
}

interface Home {
  readonly package: string;
  /** Empty for a file that stands directly in `src`: a face of the package, above all of its rooms. */
  readonly room: string;
}

function homeOf(path: string): Home | null {
  const [, name, rest] = /^(packages\/[^/]+)\/src\/(.+)$/.exec(path) ?? [];
  if (name === undefined || rest === undefined) return null;
  return { package: name, room: rest.includes("/") ? (rest.split("/")[0] ?? "") : "" };
}

function resolve(file: string, name: string): string {
  return posix.join(posix.dirname(file), name);
}

function unknownRoom(file: string): string {
  return `${file}:1 stands in a folder that is no room of the design; move it, or give the folder its arrows in test/tidy/rooms.ts`;
}
