import { homedir } from "node:os";
import { join } from "node:path";

/** Where derived files, vendored packages and the key are, by the conventions of the platform. */
export interface Places {
  readonly cache: string;
  /** Guests that were built on this machine. */
  readonly guests: string;
  readonly packages: string;
  readonly key: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function defaultPlaces(env: Environment = process.env, platform: string = process.platform): Places {
  const [cache, data] = rootsOf(env, platform);
  return {
    cache: join(cache, "bursar", "sandbox"),
    guests: env.BURSAR_GUESTS || join(cache, "bursar", "guests"),
    packages: env.BURSAR_PACKAGES || join(data, "bursar", "packages"),
    key: join(data, "bursar", "sandbox.key"),
  };
}

function rootsOf(env: Environment, platform: string): readonly [cache: string, data: string] {
  const home = env.HOME || homedir();
  if (platform === "darwin") return [join(home, "Library", "Caches"), join(home, "Library", "Application Support")];
  if (platform === "win32") {
    const local = env.LOCALAPPDATA || join(home, "AppData", "Local");
    return [local, local];
  }
  return [env.XDG_CACHE_HOME || join(home, ".cache"), env.XDG_DATA_HOME || join(home, ".local", "share")];
}
