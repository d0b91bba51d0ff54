import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SCRIPTS_HASH } from "./fingerprint.mjs";
import {
  ABSENT_MODULES,
  COMPILER,
  EXPORTS,
  HOME,
  HOST_STACK_MEGABYTES,
  LICENCES,
  OPTIMIZATION,
  PROFILE_FORMAT,
  PROMISED_MODULES,
  PYTHON_FLAGS,
  PYTHON_OPTIONS,
  SQLITE_FLAGS,
  STACK_BYTES,
  STDLIB_FOLDER,
} from "./settings.mjs";
import { SOURCES, sha256 } from "./sources.mjs";

const FORMAT = 1;

/** What the guest burns, measured on what this recipe gives; `npm run test:guest` compares it with what was built. */
const FUEL = JSON.parse(readFileSync(new URL("fuel.json", import.meta.url), "utf8"));

/** The texts of all licences, each under the name that the manifest gives to it. */
export function licenceFiles(workspace, compiler) {
  return LICENCES.map((licence) => {
    const { component, spdx, source, path } = licence;
    const version =
      licence.version ?? compiler[licence.package] ?? SOURCES.find(({ name }) => name === source)?.version;
    const file = `licences/${component.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.txt`;
    const text = readFileSync(source === undefined ? path : join(workspace.treeOf(source), path));
    // Where a licence stands in a header, the comment that begins the file is all of it.
    const end = path.endsWith(".h") ? text.indexOf("*/") + 3 : text.length;
    return { component, version, spdx, file, text: text.subarray(0, end) };
  });
}

/** All that a host has to know about a guest. No date and no path is in it: the same build gives the same bytes. */
export function describeGuest({ wasm, stdlib, profile, facts, licences, hash, compiler }) {
  return {
    format: FORMAT,
    name: "cpython",
    language: "python",
    version: facts.version,
    wasm: { file: "python.wasm", sha256: sha256(wasm), bytes: wasm.length },
    stdlib: {
      kind: "zip",
      file: "python311.zip",
      sha256: sha256(stdlib),
      bytes: stdlib.length,
      mount: STDLIB_FOLDER,
    },
    profile: { format: PROFILE_FORMAT, file: "python.profile", sha256: sha256(profile), bytes: profile.length },
    home: HOME,
    exports: EXPORTS,
    entry: { kind: "export", name: "bursar_run", module: "_bursar" },
    stackPointer: facts.stackPointer,
    memory: {
      initialBytes: facts.initialMemoryBytes,
      stackBytes: STACK_BYTES,
      hostStackBytes: HOST_STACK_MEGABYTES * 1024 * 1024,
    },
    features: { modules: PROMISED_MODULES, builtins: facts.builtins, absent: ABSENT_MODULES },
    fuel: FUEL,
    build: {
      hash,
      scripts: SCRIPTS_HASH,
      sources: SOURCES,
      compiler,
      flags: {
        compiler: COMPILER,
        optimization: OPTIMIZATION,
        python: PYTHON_FLAGS,
        options: PYTHON_OPTIONS,
        sqlite: SQLITE_FLAGS,
      },
    },
    licences: licences.map(({ component, version, spdx, file }) => ({ component, version, spdx, file })),
  };
}
