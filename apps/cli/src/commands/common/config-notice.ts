import { homedir } from "node:os";
import { type Configuration, printProblem } from "bursar/config";
import { type ConfigReport, configReport } from "../../app/config-report.js";
import type { Given } from "../../arguments/run-flags.js";
import { counted } from "../../render/quantities.js";
import { harmless } from "../../render/style.js";

/** The same as a member of a report; none where no file is in force. */
export function configMember(config: Configuration): { readonly configuration?: ConfigReport } {
  return config.file === null ? {} : { configuration: configReport(config) };
}

/** The same in a line: `~/.config/bursar/bursar.yaml, tightened by bursar.yaml`. */
export function filesInForce({ file, tightenedBy }: Configuration): string {
  const names = tightenedBy.map((each) => shortName(each.file));
  return names.length === 0 ? shortName(file) : `${shortName(file)}, tightened by ${names.join(", ")}`;
}

export function shortName(file: string | null): string {
  const home = homedir();
  if (file === null) return "none, so the defaults count";
  return harmless(home.length > 1 && file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file);
}

const MOST_TOLD = 10;

/** What a file of a working folder says and what is ignored, a line each. */
export function ignoredLines({ ignored }: Configuration, most = MOST_TOLD): readonly string[] {
  const lines = ignored.slice(0, most).map((problem) => printProblem(problem));
  const more = ignored.length - lines.length;
  return more > 0 ? [...lines, `${counted(more, "further value")} ignored; bursar config show tells all`] : lines;
}

/**
 * Says on standard error, when a command starts, which files are in force and what is ignored. With --quiet only the latter is
 * said; with --json it stands in the report, unless standard output belongs to a protocol.
 */
export function tellConfig(config: Configuration, { json, quiet }: Given): void {
  if (json === true || config.file === null) return;
  const line = quiet === true ? [] : [`configuration: ${filesInForce(config)}`];
  const warnings = ignoredLines(config).map((each) => `warning: ${each}`);
  for (const each of [...line, ...warnings]) process.stderr.write(`bursar: ${each}\n`);
}
