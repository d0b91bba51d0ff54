import { DOCS } from "./docs.js";
import type { Exception } from "./exception.js";
import type { ErrorFacts } from "./facts.js";
import type { PackageFigure } from "./package-figure.js";
import { packageIndex } from "./package-index.js";
import { PACKAGES } from "./packages.js";
import type { ErrorGuidance } from "./result.js";
import { clean } from "./text.js";

const OPENING = "No module named '";

/** For an import of a package that sessions can mount; null for any other module, about which nothing is known. */
export function missingPackage({ name, message }: Exception, facts: ErrorFacts): ErrorGuidance | null {
  if (name !== "ModuleNotFoundError" || !message.startsWith(OPENING)) return null;
  const end = message.indexOf("'", OPENING.length);
  const module = message.slice(OPENING.length, end === -1 ? message.length : end);
  // Of a dotted name Python finds the parent first: the package is there, and only lacks such a part.
  const figure = packageIndex(facts.packages ?? PACKAGES).get(module.toLowerCase());
  if (figure === undefined) return null;
  return {
    error_type: "MissingVendoredPackage",
    error_message: `${name}: ${clean(message, 300)}`,
    actionable_guidance: guidanceFor(figure, module, facts),
    related_docs: [DOCS.packages],
  };
}

function guidanceFor(figure: PackageFigure, module: string, facts: ErrorFacts): readonly string[] {
  const isCalled = (name: string) => name.toLowerCase() === module.toLowerCase();
  const spelled = figure.modules.find(isCalled) ?? figure.modules[0];
  const mounted = facts.mountedPackages?.some((name) => name.toLowerCase() === figure.name.toLowerCase()) ?? true;
  return [
    mounted
      ? `Package '${figure.name}' is pre-installed but requires sys.path configuration`
      : `Package '${figure.name}' is known but not mounted in this session: create the session with packages: ['${figure.name}']`,
    ...(spelled === module ? [] : [`The module is called '${spelled}', not '${module}': names are case-sensitive`]),
    ...(facts.autoPath === true ? [] : ["Add at start of code: import sys; sys.path.insert(0, '/data/site-packages')"]),
    `Then import normally: import ${spelled}`,
    ...(mounted ? ["Note: In MCP server, sys.path is auto-configured - this error should not occur"] : []),
  ];
}
