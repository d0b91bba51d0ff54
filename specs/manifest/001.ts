import type { Entry } from "./entry.js";

/** The requirements of specs/001-error-guidance.md: one for each scenario, named after its title. */
export const errorGuidance = [
  ["001/outoffuel-error-guidance", "9-30"],
  ["001/path-restriction-error-guidance", "32-51"],
  ["001/quickjs-tuple-destructuring-error-guidance", "53-78"],
  ["001/missing-vendored-package-import-error-guidance", "80-100"],
  ["001/trap-based-classification", "106-113"],
  ["001/stderr-based-classification", "115-122"],
  ["001/no-error-detected", "124-127"],
  ["001/existing-clients-ignore-new-fields", "133-139"],
  ["001/new-clients-consume-error-guidance", "141-148"],
  ["001/valid-documentation-references", "154-161"],
] as const satisfies readonly Entry[];
