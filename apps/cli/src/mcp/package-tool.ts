import { z } from "zod";
import { isDeciding } from "../app/roles.js";
import { SESSION, SESSION_ID } from "./code-schemas.js";
import { sessionView } from "./code-tools.js";
import type { McpSettings, Peer } from "./options.js";
import { Progress } from "./progress.js";
import { type Extra, type Offer, ToolError } from "./said.js";
import type { Workplace } from "./workplace.js";

const LONGEST_MS = 300_000;

/** Offers the tool that gives a session further packages. */
export function offerPackages(offer: Offer, settings: McpSettings, { principal }: Peer, workplace: Workplace): void {
  const fetches = settings.mayInstall === true || isDeciding(principal);
  const absent = fetches
    ? "One that is not on this machine yet is fetched, checked by its hash and kept."
    : "One that is not on this machine yet is not fetched: a person has to add it with `bursar packages add`.";
  offer("install_package", {
    title: "Install a package",
    description:
      `Gives a Python session of yours one more package in pure Python, such as openpyxl or jinja2. ${absent} ` +
      "The guest is made anew for it: files stay, variables are gone.",
    input: z.strictObject({
      session_id: SESSION_ID,
      package: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, "is no name of a package"),
    }),
    output: SESSION,
    annotations: { openWorldHint: fetches },
    run: async ({ session_id, package: name }, extra) => {
      const session = workplace.sessions.find(session_id);
      if (session.language !== "python") {
        throw new ToolError(
          "Packages are for Python alone.",
          "write JavaScript modules with session_files and import them.",
        );
      }
      const withName = (packages: readonly string[]) => withPackage(packages, name);
      await makeThere(name, settings, fetches, extra);
      if (withName(session.packages) === session.packages) {
        return { structured: sessionView(session), text: `${name} is there already; import it.` };
      }
      const made = await workplace.sessions.remake(session_id, withName, extra.signal);
      return { structured: sessionView(made), text: `${name} is there; import it. Files stayed, variables are gone.` };
    },
  });
}

/** The same packages if it is one of them. */
function withPackage(packages: readonly string[], name: string): readonly string[] {
  return packages.some((each) => isSameName(each, name)) ? packages : [...packages, name];
}

/** Sees to it that a package is on this machine. */
async function makeThere(name: string, settings: McpSettings, fetches: boolean, extra: Extra): Promise<void> {
  const { packagesFolder: folder } = settings;
  const { addPackages, compilePackages, GuestCompiler, listPackages } = await import("@bursar/sandbox/packages");
  const stored = await listPackages(folder);
  const names = stored.flatMap((each) => (each.kind === "sound" ? [each.record.name] : []));
  if (names.some((each) => isSameName(each, name))) return;
  if (!fetches) {
    throw new ToolError(
      `${name} is not on this machine; there ${names.length === 0 ? "is no package" : `are ${names.slice(0, 50).join(", ")}`}.`,
      `write the program without it, or ask the user to run: bursar packages add ${name}`,
    );
  }
  using progress = new Progress(extra, `looking for ${name}`, LONGEST_MS);
  const signal = AbortSignal.any([extra.signal, AbortSignal.timeout(LONGEST_MS)]);
  const report = await addPackages([name], { folder, signal, progress: ({ kind }) => progress.say(`${kind} ${name}`) });
  await using compiler = new GuestCompiler({ sandbox: { packagesFolder: folder }, signal });
  const added = report.packages.map((each) => `${each.name}==${each.version}`);
  await compilePackages(folder, added, compiler.compile, await compiler.tag());
}

/** As Python compares the names of packages. */
function isSameName(a: string, b: string): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/[-_.]+/g, "-");
  return plain(a) === plain(b);
}
