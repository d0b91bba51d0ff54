import { DOCS } from "./docs.js";
import type { Exception } from "./exception.js";
import type { ErrorFacts, Language } from "./facts.js";
import { isAtHome, isWithin, pathsIn } from "./guest-path.js";
import type { ErrorGuidance } from "./result.js";
import { clean } from "./text.js";

const MOST_PATH = 300;
const PACKAGES_FOLDER = "/data/site-packages";

const ABSENT: ReadonlySet<string> = new Set(["FileNotFoundError", "NotADirectoryError"]);
const REFUSALS: readonly string[] = ["Capabilities insufficient", "Read-only file system", "Operation not permitted"];
const ABSENCE = "No such file or directory";

/** For a file outside of what the guest may touch; null when the exception is about something else. */
export function pathRestriction(exception: Exception, facts: ErrorFacts): ErrorGuidance | null {
  const problem = problemOf(exception, facts.language);
  if (problem === null) return null;
  const { name, message } = exception;
  const mounts = facts.mounts ?? [PACKAGES_FOLDER];
  const isMounted = (path: string) => mounts.some((mount) => isWithin(mount, path));
  // A file that is missing in a mounted folder is simply missing; one that cannot be written there is a restriction.
  const path = pathsIn(message).find((each) => !isAtHome(each) && (problem === "refused" || !isMounted(each)));
  if (path === undefined) return null;
  const shown = clean(path, MOST_PATH);
  const first = isMounted(path)
    ? `Security error: Cannot write '${shown}' - only the /app directory can be written`
    : `Security error: Cannot access '${shown}' - all file operations restricted to /app directory`;
  return {
    error_type: "PathRestriction",
    error_message: `${name}: ${shown}`,
    actionable_guidance: [
      first,
      "Use absolute paths like '/app/data.txt' or relative paths 'data.txt' (auto-prefixed with /app)",
      "WASI capability isolation prevents access outside preopened directories",
    ],
    related_docs: [DOCS.security],
  };
}

/** A path outside of what was opened to the guest mostly looks as if it did not exist. */
function problemOf({ name, message }: Exception, language: Language): "absent" | "refused" | null {
  const isRefusal = REFUSALS.some((text) => message.includes(text));
  if (language === "javascript") {
    if (name !== "Error") return null;
    return isRefusal ? "refused" : message.startsWith(ABSENCE) ? "absent" : null;
  }
  if (ABSENT.has(name)) return "absent";
  return name === "PermissionError" || (name === "OSError" && isRefusal) ? "refused" : null;
}
