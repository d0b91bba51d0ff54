import { writeFileSync } from "node:fs";
import { EXAMPLE } from "bursar/config";
import { CommandError } from "../app/errors.js";
import { harmless } from "../render/style.js";
import type { ConfigChore, ConfigCommand, Done } from "./config-work.js";

const NAME = "bursar.yaml";

export const init: ConfigCommand = {
  help: `Usage: bursar config init [file] [flags]

Writes a file to begin with, bursar.yaml unless another is named. It can be
used as it stands; what else there is stands in its comments. A file that is
there is left alone.

Flags:
  --config <file>  the file, if it does not stand by itself
  --json           the report as one JSON object
  --quiet          nothing but the exit code, and what fails
  --help           this text

Exit codes: 0 written, 1 it is there already, or cannot be written,
2 not understood

Examples:
  bursar config init
  bursar config init ~/.config/bursar/bursar.yaml
`,
  takesFile: true,
  run({ file = NAME, style }: ConfigChore): Done {
    write(file);
    const next = "bursar config show tells what a run gets now";
    return { report: { ok: true, file }, text: `${style.good("✓")} ${harmless(file)} is written; ${next}\n` };
  },
};

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: "is there already, and is left as it is; name another file",
  ENOENT: "cannot be written, because its folder is not there",
  ENOTDIR: "cannot be written, because its folder is none",
  EACCES: "cannot be written; allow it",
  EROFS: "cannot be written, because the disk is read-only",
};

function write(file: string): void {
  try {
    // One step, so that nothing that appears in between is lost.
    writeFileSync(file, EXAMPLE, { flag: "wx" });
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new CommandError(`${harmless(file)} ${REASONS[code] ?? `cannot be written: ${message}`}`);
  }
}
