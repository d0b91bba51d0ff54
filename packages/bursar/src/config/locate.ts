import { posix, win32 } from "node:path";
import { BursarError } from "../core/errors.js";

/** What a search asks of a machine. */
export interface ConfigSurroundings {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  /** The user's own id; null where files have no owners. */
  readonly uid: number | null;
  /** What stands at a path; null for nothing. */
  readonly look: (path: string) => { readonly kind: "file" | "folder"; readonly uid: number } | null;
}

/** How a file was found. */
export interface LocatedConfig {
  readonly file: string;
  readonly by: "flag" | "environment" | "folder" | "user";
}

/** A search that ended in something that must not be passed over. */
export class ConfigLocationError extends BursarError {
  override readonly name: string = "ConfigLocationError";

  constructor(message: string) {
    super("config_location", message);
  }
}

const NAMES = ["bursar.yaml", "bursar.yml"];
/** More than any path has; a folder that is its own parent ends the walk before that. */
const MOST_FOLDERS = 256;

/**
 * Finds the configuration: the one that is named, else `BURSAR_CONFIG`, else `bursar.yaml` or `bursar.yml` in this folder or
 * one above it, up to the root of the repository, else the user's own. Null when there is none. One that is named is not
 * looked for: to read it tells better what is wrong with it.
 */
export function locateConfig(named: string | undefined, surroundings: ConfigSurroundings): LocatedConfig | null {
  if (named !== undefined) return { file: named, by: "flag" };
  const fromEnvironment = surroundings.env.BURSAR_CONFIG;
  if (fromEnvironment !== undefined && fromEnvironment !== "") return { file: fromEnvironment, by: "environment" };
  const above = upwards(surroundings);
  if (above !== null) return { file: above, by: "folder" };
  const own = inFolder(userFolder(surroundings), surroundings);
  return own === null ? null : { file: own, by: "user" };
}

/** Where a user's own configuration stands. */
function userFolder({ platform, env, home }: ConfigSurroundings): string {
  if (platform === "win32") return win32.join(env.APPDATA || win32.join(home, "AppData", "Roaming"), "bursar");
  if (platform === "darwin") return posix.join(home, "Library", "Application Support", "bursar");
  // The convention says to ignore a relative path here.
  const given = env.XDG_CONFIG_HOME;
  return posix.join(given?.startsWith("/") ? given : posix.join(home, ".config"), "bursar");
}

/**
 * Inside a repository of the user's own everything belongs together. Elsewhere, folders above may be anybody's (`/tmp` is), and a
 * file that widens budgets must not be planted there, nor a `.git` beside it: it has to be the user's own, the system's, or of
 * whoever owns this folder, who could as well have put it here.
 */
function upwards(surroundings: ConfigSurroundings): string | null {
  const { cwd, look, platform, uid } = surroundings;
  const path = platform === "win32" ? win32 : posix;
  let found: string | null = null;
  let folder = cwd;
  for (let count = 0; count < MOST_FOLDERS; count++) {
    found ??= inFolder(folder, surroundings);
    const repository = look(path.join(folder, ".git"));
    const parent = path.dirname(folder);
    if (repository !== null && (uid === null || isTrusted(repository.uid, uid))) return found;
    if (repository !== null || parent === folder) break;
    folder = parent;
  }
  if (found === null || uid === null || path.dirname(found) === cwd) return found;
  const owner = look(found)?.uid ?? uid;
  if (isTrusted(owner, uid) || owner === look(cwd)?.uid) return found;
  throw new ConfigLocationError(
    `${found} is above this folder and belongs to another user, so it is not used; name it with --config if you trust it`,
  );
}

function isTrusted(owner: number, uid: number): boolean {
  return owner === uid || owner === 0;
}

function inFolder(folder: string, { look, platform }: ConfigSurroundings): string | null {
  const path = platform === "win32" ? win32 : posix;
  const files = NAMES.map((name) => path.join(folder, name)).filter((file) => look(file)?.kind === "file");
  const [first = null, second] = files;
  if (second !== undefined) throw new ConfigLocationError(`there are ${first} and ${second}; keep one of them`);
  return first;
}
