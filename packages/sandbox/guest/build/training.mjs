import { readFileSync } from "node:fs";
import { runGuest } from "./check/run-guest.mjs";
import { withStdlib } from "./check/with-stdlib.mjs";
import { BuildFailure, EXIT_CODES } from "./failure.mjs";
import { PROFILE_FORMAT } from "./settings.mjs";

const PROGRAM = readFileSync(new URL("training.py", import.meta.url));
const COMPILED = new URL("../../dist/wasm/", import.meta.url);
const BOOTED_EXIT_CODE = 77;

/**
 * The sandbox's own rewriter, which is compiled from TypeScript, while all the rest here runs as it is. To be asked for before
 * minutes are spent on a build that would fail without it.
 */
export async function loadRecorder() {
  const [{ recording, Recorder }, profile] = await Promise.all([compiled("record-profile.js"), compiled("profile.js")]);
  if (profile.PROFILE_FORMAT === PROFILE_FORMAT) return { recording, Recorder, writeProfile: profile.writeProfile };
  const said = `the sandbox writes profiles of format ${profile.PROFILE_FORMAT}, and this build wants ${PROFILE_FORMAT}`;
  throw new BuildFailure(`${said}; npm run build compiles it anew`, EXIT_CODES.failed);
}

async function compiled(name) {
  try {
    return await import(new URL(name, COMPILED).href);
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    const said = "the sandbox is not compiled yet, and has to be for training the meter; npm run build does it";
    throw new BuildFailure(said, EXIT_CODES.failed, { cause: error });
  }
}

/** Runs the training in a guest that tells of every way it takes, and gives the profile for the meter. */
export function trainMeter(wasm, stdlib, { recording, Recorder, writeProfile }) {
  const { wasm: told, edges } = recording(wasm);
  let recorder = null;
  const guest = runGuest(new WebAssembly.Module(told), {
    args: ["python", "-I", "/check.py"],
    root: withStdlib(stdlib, PROGRAM),
    onInstance: (instance) => {
      recorder = new Recorder(instance, edges);
    },
  });
  if (guest.exitCode !== BOOTED_EXIT_CODE) throw failed(guest.stderr);
  recorder.clear();
  if (guest.instance.exports.bursar_run() !== 0) throw failed(guest.said("stderr"));
  return Buffer.from(writeProfile(recorder.profile()));
}

function failed(said) {
  return new BuildFailure(`the meter could not be trained: ${said}`, EXIT_CODES.failed);
}
