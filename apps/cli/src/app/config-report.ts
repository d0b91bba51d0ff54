import type { Configuration, Problem } from "bursar/config";

/** Which configuration files are in force, and what of them is ignored, for programs. */
export interface ConfigReport {
  readonly file: string | null;
  readonly tightened_by: readonly (string | null)[];
  readonly ignored: readonly Problem[];
}

export function configReport({ file, tightenedBy, ignored }: Configuration): ConfigReport {
  return { file, tightened_by: tightenedBy.map((each) => each.file), ignored };
}
