import { checkGuest } from "./check/check.mjs";
import { compilePython, configurePython } from "./cpython.mjs";
import { buildHash } from "./fingerprint.mjs";
import { buildLibraries } from "./libraries.mjs";
import { describeGuest, licenceFiles } from "./manifest.mjs";
import { packStdlib } from "./stdlib.mjs";
import { loadRecorder, trainMeter } from "./training.mjs";

/** Every file of the guest, by name, made from the sources in a workspace. */
export async function makeGuestFiles(workspace, compiler, progress) {
  const recorder = await loadRecorder();
  await progress.step("Compiling zlib, bzip2 and SQLite", () => buildLibraries(workspace));
  await progress.step("Configuring CPython", () => configurePython(workspace));
  const wasm = await progress.step("Compiling CPython", () => compilePython(workspace));
  const module = new WebAssembly.Module(wasm);
  const stdlib = await progress.step("Packing the standard library", () => packStdlib(workspace, module));
  const facts = await progress.step("Checking what was built", () => checkGuest(wasm, stdlib));
  const profile = await progress.step("Training the meter", () => trainMeter(wasm, stdlib, recorder));
  const licences = licenceFiles(workspace, compiler);
  const manifest = describeGuest({ wasm, stdlib, profile, facts, licences, hash: buildHash(compiler), compiler });
  return [
    [manifest.wasm.file, wasm],
    [manifest.stdlib.file, stdlib],
    [manifest.profile.file, profile],
    ...licences.map(({ file, text }) => [file, text]),
    ["manifest.json", `${JSON.stringify(manifest, null, 2)}\n`],
  ];
}
