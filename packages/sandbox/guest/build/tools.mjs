import { existsSync } from "node:fs";
import { outputOf } from "./command.mjs";
import { BuildFailure, EXIT_CODES } from "./failure.mjs";
import { COMPILER_PACKAGES, TOOLS } from "./settings.mjs";

/** The packages that are not installed. */
export function missingTools() {
  return Object.keys(TOOLS).filter((name) => !existsSync(TOOLS[name]));
}

/** Installs what is missing, as far as we may. */
export async function installTools(missing) {
  const command = installCommand(missing);
  if (!existsSync("/usr/bin/apt-get")) {
    throw new BuildFailure(
      `the fast guest is built with Debian 12's packages, and there is no apt-get here; missing: ${missing.join(", ")}`,
      EXIT_CODES.toolsMissing,
      { missing },
    );
  }
  if (process.getuid?.() !== 0) {
    throw new BuildFailure(
      `${missing.join(", ")}: these packages are missing, and only root may install them: sudo ${command}`,
      EXIT_CODES.toolsMissing,
      { missing, command: `sudo ${command}` },
    );
  }
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await outputOf("apt-get", ["update"], { env });
  const installed = await outputOf("apt-get", command.split(" ").slice(1), { env });
  const left = missingTools();
  if (installed === null || left.length > 0) {
    throw new BuildFailure(
      `these packages could not be installed: ${left.join(", ")}. Is Debian 12's archive reachable? To see why: ${command}`,
      EXIT_CODES.unreachable,
      { missing: left, command },
    );
  }
}

/** The versions of the packages that leave their mark on the result. */
export async function compilerVersions() {
  const listed = await outputOf("dpkg-query", ["-W", ...COMPILER_PACKAGES]);
  if (listed === null) {
    throw new BuildFailure(
      `dpkg-query does not know all of ${COMPILER_PACKAGES.join(", ")}; install them from Debian 12, so that the build can be repeated`,
      EXIT_CODES.toolsMissing,
    );
  }
  return readVersions(listed);
}

/** Versions by package, from what `dpkg-query -W` prints; in one order and without the machine's architecture. */
export function readVersions(listed) {
  const lines = listed.trim().split("\n").sort();
  return Object.fromEntries(lines.map((line) => line.replace(/:\w+\t/, "\t").split("\t")));
}

/** What installs packages, for a person to type. */
export function installCommand(packages) {
  return `apt-get install -y --no-install-recommends ${packages.join(" ")}`;
}
