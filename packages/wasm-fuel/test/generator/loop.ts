import { body, functionType, list, moduleOf, name, section } from "./encode.js";
import { I32 } from "./world.js";

/** A module whose `main` runs a loop over this code, which counts in its only local and branches back. */
export function loopModule(round: readonly number[]): Uint8Array {
  return moduleOf(
    section(1, list([functionType([I32], [I32]), functionType([], [I32])])),
    section(2, list([[...name("env"), ...name("host"), 0, 0]])),
    section(3, list([[1]])),
    section(5, list([[0, 1]])),
    section(
      7,
      list([
        [...name("main"), 0, 1],
        [...name("memory"), 2, 0],
      ]),
    ),
    section(10, list([body([I32], [0x03, 0x40, ...round, 0x0b, 0x20, 0])])),
  );
}
