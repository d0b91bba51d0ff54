import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { environment, outputOf } from "./command.mjs";
import { editSources } from "./edits.mjs";
import { BuildFailure, EXIT_CODES } from "./failure.mjs";
import { COMPILER, EMULATED, EXPORTS, PYTHON_FLAGS, PYTHON_OPTIONS, STACK_BYTES } from "./settings.mjs";

const SYSCONFIG = fileURLToPath(new URL("sysconfig-data.py", import.meta.url));
const OUR_MODULE = fileURLToPath(new URL("bursar-module.c", import.meta.url));

/** Makes the sources what we want of them, and asks the compiler what WASI has; the libraries have to be there already. */
export async function configurePython(workspace) {
  editSources(workspace);
  const tree = workspace.treeOf("python3.11");
  const machine = await outputOf("sh", [join(tree, "config.guess")]);
  if (machine === null) throw new BuildFailure("config.guess does not know this machine", EXIT_CODES.failed);
  copyFileSync(OUR_MODULE, join(tree, "Modules", "bursar-module.c"));
  mkdirSync(join(workspace.python, "Modules"));
  writeFileSync(join(workspace.python, "Modules", "Setup.local"), "_bursar bursar-module.c\n");
  const crossing = [
    "--host=wasm32-unknown-wasi",
    `--build=${machine.trim()}`,
    "--with-build-python=/usr/bin/python3.11",
  ];
  await workspace.run(join("..", "tree", "python3.11", "configure"), [...crossing, ...PYTHON_OPTIONS], {
    cwd: workspace.python,
    env: pythonEnvironment(workspace),
    log: "configure",
  });
}

/** Compiles CPython and gives the finished module. */
export async function compilePython(workspace) {
  // CPython's own choice of stack and memory comes after ours on the command line, so it has to go.
  const targets = ["python.wasm", "pybuilddir.txt", "CONFIGURE_LDFLAGS_NODIST="];
  await workspace.run("make", [`-j${workspace.width}`, ...targets], {
    cwd: workspace.python,
    env: pythonEnvironment(workspace),
    log: "compile",
  });
  const wasm = readFileSync(join(workspace.python, "python.wasm"));
  if (wasm.includes(workspace.root)) {
    throw new BuildFailure(`the module names ${workspace.root}, so it would differ next time`, EXIT_CODES.failed);
  }
  return wasm;
}

/** What the `sysconfig` module tells about this build, freed from where it happened. */
export async function sysconfigData(workspace) {
  const built = join(workspace.python, readFileSync(join(workspace.python, "pybuilddir.txt"), "utf8").trim());
  const name = readdirSync(built).find((file) => /^_sysconfigdata_.*\.py$/.test(file));
  if (name === undefined) throw new BuildFailure(`there is no _sysconfigdata in ${built}`, EXIT_CODES.failed);
  const args = ["-I", SYSCONFIG, join(built, name), workspace.root];
  const text = await outputOf("/usr/bin/python3.11", args, { env: environment() });
  if (text === null || text.includes(workspace.root)) {
    throw new BuildFailure(`${join(built, name)} could not be freed from ${workspace.root}`, EXIT_CODES.failed);
  }
  return { name, text };
}

function pythonEnvironment(workspace) {
  const exported = EXPORTS.filter((name) => name !== "memory" && name !== "__indirect_function_table");
  return environment({
    CONFIG_SITE: join(workspace.treeOf("python3.11"), "Tools", "wasm", "config.site-wasm32-wasi"),
    // The machine's own libraries are not for WASI, so nobody may find them.
    PKG_CONFIG: "/bin/false",
    CC: COMPILER,
    CPP: `${COMPILER} -E`,
    AR: "llvm-ar-19",
    ARFLAGS: "rcsD",
    RANLIB: "true",
    LDSHARED: "false",
    CFLAGS: [...PYTHON_FLAGS, `-ffile-prefix-map=${workspace.root}=/build`].join(" "),
    CPPFLAGS: [`-I${workspace.include}`, ...EMULATED].join(" "),
    LDFLAGS: [
      `-L${workspace.library}`,
      "-Wl,--stack-first",
      `-Wl,-z,stack-size=${STACK_BYTES}`,
      "-Wl,--export-table",
      // Configure links little programs that have none of our functions in them.
      ...exported.map((name) => `-Wl,--export-if-defined=${name}`),
      "-Wl,--strip-all",
    ].join(" "),
  });
}
