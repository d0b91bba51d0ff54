import { copyFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { environment, inParallel } from "./command.mjs";
import { COMPILER, EMULATED, OPTIMIZATION, SQLITE_FLAGS } from "./settings.mjs";

const SQLITE_HEADER = fileURLToPath(new URL("sqlite-wasi.h", import.meta.url));
const ZLIB_PARTS =
  "adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate inftrees trees uncompr zutil";
const BZIP2_PARTS = "blocksort huffman crctable randtable compress decompress bzlib";

/** Compiles what CPython wants to link with: zlib, bzip2 and SQLite, each as a static library. */
export async function buildLibraries(workspace) {
  const sqlite = await writeSqliteSource(workspace);
  const libraries = [
    {
      name: "sqlite3",
      folder: sqlite,
      parts: "sqlite3",
      headers: ["sqlite3.h"],
      flags: [...SQLITE_FLAGS, ...EMULATED, "-include", SQLITE_HEADER],
    },
    {
      name: "z",
      folder: workspace.treeOf("zlib"),
      parts: ZLIB_PARTS,
      headers: ["zlib.h", "zconf.h"],
      flags: ["-DHAVE_UNISTD_H", "-Wno-deprecated-non-prototype"],
    },
    { name: "bz2", folder: workspace.treeOf("bzip2"), parts: BZIP2_PARTS, headers: ["bzlib.h"], flags: [] },
  ];
  // The largest part comes first, so that the others fill the time it takes.
  const compilations = libraries.flatMap((library) =>
    library.parts.split(" ").map((part) => ({ library, part, object: objectOf(workspace, library, part) })),
  );
  await inParallel(compilations, workspace.width, ({ library, part, object }) =>
    compile(workspace, library, join(library.folder, `${part}.c`), object),
  );
  for (const library of libraries) {
    const objects = library.parts.split(" ").map((part) => objectOf(workspace, library, part));
    const archive = join(workspace.library, `lib${library.name}.a`);
    await workspace.run("llvm-ar-19", ["rcsD", archive, ...objects], { log: "libraries" });
    for (const header of library.headers) copyFileSync(join(library.folder, header), join(workspace.include, header));
  }
}

function objectOf(workspace, library, part) {
  return join(workspace.library, `${library.name}-${part}.o`);
}

async function compile(workspace, library, source, object) {
  const [compiler, ...target] = COMPILER.split(" ");
  const paths = [`-ffile-prefix-map=${workspace.root}=/build`, `-I${library.folder}`];
  await workspace.run(
    compiler,
    [...target, OPTIMIZATION, "-g0", ...paths, ...library.flags, "-c", source, "-o", object],
    {
      log: `library-${basename(object, ".o")}`,
    },
  );
}

/** SQLite is distributed as many files and compiled as one, which its own tools put together. */
async function writeSqliteSource(workspace) {
  const folder = join(workspace.root, "sqlite");
  const log = "sqlite";
  mkdirSync(folder);
  const env = environment({ CC: "clang-19" });
  const options = ["--disable-tcl", "--disable-readline", "--disable-load-extension"];
  await workspace.run(join(workspace.treeOf("sqlite3"), "configure"), options, { cwd: folder, env, log });
  await workspace.run("make", [`-j${workspace.width}`, "sqlite3.c"], { cwd: folder, env, log });
  return folder;
}
