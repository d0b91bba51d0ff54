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
  readonly look: (path: string) => FoundPath | null;
}

/** What stands at a path: `other` is a folder, a pipe, a device; `unreadable` cannot be looked at. */
export interface FoundPath {
  readonly kind: "file" | "other" | "unreadable";
  readonly uid: number;
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
 * Finds the configuration files in force, the one that has the last word first: the one that is named, else `BURSAR_CONFIG`, and
 * then no other; else the user's own, and after it every `bursar.yaml` or `bursar.yml` in this folder and the folders above, the
 * outermost first. Empty when there is none. A file that is named is not looked for: reading it tells better what is wrong with it.
 */
export function locateConfigs(named: string | undefined, surroundings: ConfigSurroundings): readonly LocatedConfig[] {
  if (named !== undefined) return [{ file: named, by: "flag" }];
  const fromEnvironment = surroundings.env.BURSAR_CONFIG;
  if (fromEnvironment !== undefined && fromEnvironment !== "") return [{ file: fromEnvironment, by: "environment" }];
  const own = inFolder(userFolder(surroundings), surroundings, ["file", "unreadable"]);
  const folders = upwards(surroundings).filter((file) => file !== own);
  return [
    ...(own === null ? [] : [{ file: own, by: "user" } as const]),
    ...folders.map((file) => ({ file, by: "folder" }) as const),
  ];
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
 * All files from the root of the disk down to this folder. The walk does not end at a `.git`, because an agent that may write
 * here could hide a file above with one. Folders above may be anybody's (`/tmp` is), so a file there has to belong to the user,
 * to the system, or to the owner of this folder, who could have put it here. Inside a repository of the user's own any file
 * counts; above it, those of others are passed over.
 */
function upwards(surroundings: ConfigSurroundings): readonly string[] {
  const { cwd, look, platform, uid } = surroundings;
  const path = platform === "win32" ? win32 : posix;
  const found: { readonly file: string; readonly level: number }[] = [];
  let repository: number | null = null;
  let folder = cwd;
  for (let level = 0; level < MOST_FOLDERS; level++) {
    const file = inFolder(folder, surroundings, ["file"]);
    if (file !== null) found.push({ file, level });
    const git = look(path.join(folder, ".git"));
    if (git !== null && (uid === null || isTrusted(git.uid, uid))) repository ??= level;
    const parent = path.dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  const trusted = found.filter(({ file, level }) => {
    if (uid === null || level === 0 || (repository !== null && level <= repository)) return true;
    const owner = look(file)?.uid ?? uid;
    if (isTrusted(owner, uid) || owner === look(cwd)?.uid) return true;
    if (repository !== null) return false;
    throw new ConfigLocationError(
      `${file} is above this folder and belongs to another user, so it is not used; name it with --config if you trust it`,
    );
  });
  return trusted.map(({ file }) => file).toReversed();
}

function isTrusted(owner: number, uid: number): boolean {
  return owner === uid || owner === 0;
}

function inFolder(
  folder: string,
  { look, platform }: ConfigSurroundings,
  kinds: readonly FoundPath["kind"][],
): string | null {
  const path = platform === "win32" ? win32 : posix;
  const files = NAMES.map((name) => path.join(folder, name)).filter((file) => {
    const kind = look(file)?.kind;
    return kind !== undefined && kinds.includes(kind);
  });
  const [first = null, second] = files;
  if (second !== undefined) throw new ConfigLocationError(`there are ${first} and ${second}; keep one of them`);
  return first;
}
