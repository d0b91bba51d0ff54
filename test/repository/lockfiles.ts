import { minVersion, satisfies } from "semver";

/** What a lockfile says of a package, as far as npm would have something to say about it. */
interface Locked {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly deprecated?: string;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
}

interface Manifest {
  readonly engines?: { readonly node?: string };
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

/**
 * Packages that would make `npm ci` warn, under the oldest Node that the manifest beside the lockfile allows, or that come from one
 * registry alone.
 */
export function findWarnings(file: string, lockfile: string, manifest: string): readonly string[] {
  const { packages } = JSON.parse(lockfile) as { readonly packages: Readonly<Record<string, Locked>> };
  const { engines, allowScripts = {} } = JSON.parse(manifest) as Manifest;
  const oldest = minVersion(engines?.node ?? "*")?.version ?? "0.0.0";
  return Object.entries(packages).flatMap(([path, locked]) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    return complaintsOf(name, locked, { oldest, allowScripts }).map((complaint) => `${file}:1 ${path} ${complaint}`);
  });
}

function complaintsOf(
  name: string,
  { resolved, link = false, deprecated, hasInstallScript = false, engines }: Locked,
  { oldest, allowScripts }: { readonly oldest: string; readonly allowScripts: Readonly<Record<string, boolean>> },
): readonly string[] {
  const complaints: string[] = [];
  if (resolved !== undefined && !link) complaints.push("names a registry; let .npmrc leave it out");
  if (deprecated !== undefined) complaints.push(`is deprecated: ${deprecated}`);
  if (engines?.node !== undefined && !satisfies(oldest, engines.node)) {
    complaints.push(
      `needs Node ${engines.node}, and ${oldest} is allowed; take another version, or install it elsewhere`,
    );
  }
  if (hasInstallScript && allowScripts[name] === undefined) {
    complaints.push("has an install script; read it, and say in allowScripts of package.json whether it may run");
  }
  return complaints;
}
