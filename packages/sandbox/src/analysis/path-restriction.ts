import { DOCS } from "./docs.js";
import type { Exception } from "./exception.js";
import type { ErrorFacts, Language } from "./facts.js";
import { isWithin, isWritable, pathsIn } from "./guest-path.js";
import type { ErrorGuidance } from "./result.js";
import { clean } from "./text.js";

const MOST_PATH = 300;
const PACKAGES_FOLDER = "/data/site-packages";

const ABSENT: ReadonlySet<string> = new Set(["FileNotFoundError", "NotADirectoryError"]);
const READ_ONLY = "Read-only file system";
const REFUSALS: readonly string[] = ["Capabilities insufficient", "Operation not permitted"];
const ABSENCE = "No such file or directory";

/** For a file outside of what the guest may touch; null when the exception is about something else. */
export function pathRestriction(exception: Exception, facts: ErrorFacts): ErrorGuidance | null {
  const { name, message } = exception;
  if (facts.refusedPath !== undefined && isWithoutPath(exception)) return restricted(name, facts.refusedPath, false);
  const problem = problemOf(exception, facts.language);
  if (problem === null) return null;
  const mounts = facts.mounts ?? [PACKAGES_FOLDER];
  const isMounted = (path: string) => mounts.some((mount) => isWithin(mount, path));
  // A file that is missing in a mounted folder is simply missing; one that cannot be written there is a restriction.
  const paths = pathsIn(message);
  const path =
    paths.find((each) => !isWritable(each) && (problem !== "absent" || !isMounted(each))) ??
    // A relative path after a change of folder, or a link that leads out of its own.
    (problem === "read_only" ? paths[0] : undefined);
  return path === undefined ? null : restricted(name, path, isMounted(path));
}

function restricted(name: string, path: string, isMounted: boolean): ErrorGuidance {
  const shown = clean(path, MOST_PATH);
  return {
    error_type: "PathRestriction",
    error_message: `${name}: ${shown}`,
    actionable_guidance: restrictedPathAdvice(shown, isMounted),
    related_docs: [DOCS.security],
  };
}

/** Failures that come of a file which could not be opened, and do not say which: SQLite's, and null in place of a file of `std.open`. */
function isWithoutPath({ name, message }: Exception): boolean {
  if (name === "sqlite3.OperationalError") return message === "unable to open database file";
  return name === "TypeError" && message.startsWith("cannot read property") && message.endsWith("of null");
}

/** What to say about a path that a guest may not use, or may only read because something is mounted there. */
export function restrictedPathAdvice(path: string, isMounted: boolean): readonly string[] {
  return [
    isMounted
      ? `Security error: Cannot write '${path}' - only the /app directory can be written`
      : `Security error: Cannot access '${path}' - all file operations restricted to /app directory`,
    "Use absolute paths like '/app/data.txt' or relative paths 'data.txt' (auto-prefixed with /app)",
    "WASI capability isolation prevents access outside preopened directories",
  ];
}

/** A path outside of what was opened to the guest mostly looks as if it did not exist. */
function problemOf({ name, message }: Exception, language: Language): "absent" | "refused" | "read_only" | null {
  if (message.includes(READ_ONLY) && (name === "OSError" || name === "Error")) return "read_only";
  const isRefusal = REFUSALS.some((text) => message.includes(text));
  if (language === "javascript") {
    if (name !== "Error") return null;
    return isRefusal ? "refused" : message.startsWith(ABSENCE) ? "absent" : null;
  }
  if (ABSENT.has(name)) return "absent";
  return name === "PermissionError" || (name === "OSError" && isRefusal) ? "refused" : null;
}
