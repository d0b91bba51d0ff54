import type { Program } from "../ports/program.js";

/** Stands for the program of a run that is only to be ended. */
export const NO_PROGRAM: Program = {
  kind: "none",
  name: "none",
  digest: "",
  source: null,
  play: () => ({ result: new Promise(() => {}) }),
};
