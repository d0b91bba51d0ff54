import { createHost, Exit } from "./host.mjs";

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Runs a guest to its end, and gives what it said and the instance it leaves behind; `onInstance` sees it before it runs. */
export function runGuest(module, { args, env, root, clock, onInstance }) {
  const written = { stdout: [], stderr: [] };
  let size = 0;
  const write = (stream, bytes) => {
    size += bytes.length;
    if (size > MAX_OUTPUT_BYTES) throw new Error(`the guest has written more than ${MAX_OUTPUT_BYTES} bytes`);
    written[stream].push(Buffer.from(bytes));
  };
  const host = createHost({ args, env: { PYTHONHASHSEED: "0", ...env }, root, write, clock });
  const instance = host.instantiate(module);
  onInstance?.(instance);
  const said = (stream) => Buffer.concat(written[stream].splice(0)).toString("utf8");
  const exitCode = exitCodeOf(() => instance.exports._start());
  return { exitCode, stdout: said("stdout"), stderr: said("stderr"), instance, said };
}

/** What a guest exits with; whatever else comes out of it is an error of ours or its own. */
function exitCodeOf(work) {
  try {
    work();
    return 0;
  } catch (error) {
    if (error instanceof Exit) return error.code;
    throw error;
  }
}
