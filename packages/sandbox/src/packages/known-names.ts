import { nearestName, normalizeName } from "./names.js";

/**
 * Debian's name for a package where it is not `python3-` and the package's own name. The key is in normal form. What is not
 * listed here is guessed, and the guess is compared with what the package says it is.
 */
export const DEBIAN_NAMES: Readonly<Record<string, string>> = {
  attrs: "python3-attr",
  beautifulsoup4: "python3-bs4",
  "jaraco-text": "python3-jaraco.text",
  pillow: "python3-pil",
  pyjwt: "python3-jwt",
  pyserial: "python3-serial",
  "python-dateutil": "python3-dateutil",
  "python-docx": "python3-docx",
  "python-magic": "python3-magic",
  "python-pptx": "python3-pptx",
  "python-slugify": "python3-slugify",
  pyyaml: "python3-yaml",
  pyzmq: "python3-zmq",
  "ruamel-yaml": "python3-ruamel.yaml",
  "scikit-learn": "python3-sklearn",
  "typing-extensions": "python3-typing-extensions",
};

/** Modules whose package has another name: what people write after `import`, and what they have to ask for. */
const IMPORT_NAMES: Readonly<Record<string, string>> = {
  attr: "attrs",
  bs4: "beautifulsoup4",
  dateutil: "python-dateutil",
  docx: "python-docx",
  pil: "Pillow",
  pptx: "python-pptx",
  yaml: "PyYAML",
};

/** Packages that people ask for, to offer when a name is nearly one of them. */
const FAMILIAR: readonly string[] = [
  "Jinja2",
  "Markdown",
  "MarkupSafe",
  "PyPDF2",
  "Pygments",
  "XlsxWriter",
  "chardet",
  "click",
  "et_xmlfile",
  "html5lib",
  "idna",
  "jsonschema",
  "more-itertools",
  "mpmath",
  "networkx",
  "numpy",
  "openpyxl",
  "packaging",
  "pandas",
  "pypdf",
  "pyparsing",
  "pytz",
  "requests",
  "rich",
  "simplejson",
  "six",
  "sortedcontainers",
  "soupsieve",
  "sympy",
  "tabulate",
  "toml",
  "toolz",
  "urllib3",
  "webencodings",
  "xlrd",
  "xmltodict",
];

const PYPI_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(DEBIAN_NAMES).map(([name, debian]) => [debian, name]),
);

/** The package's own name for one of Debian's, as far as it can be told without looking inside. */
export function nameOfDebian(debianName: string): string {
  return PYPI_NAMES.get(debianName) ?? normalizeName(debianName.replace(/^python3-/, ""));
}

/** `; did you mean openpyxl?` after a name nobody knows, or nothing. */
export function hintFor(name: string, alsoKnown: Iterable<string> = []): string {
  const normal = name.toLowerCase();
  const imported = Object.hasOwn(IMPORT_NAMES, normal) ? IMPORT_NAMES[normal] : undefined;
  if (imported !== undefined) return `; the module ${name} is in the package ${imported}`;
  const nearest = nearestName(name, [...FAMILIAR, ...Object.keys(DEBIAN_NAMES), ...alsoKnown]);
  return nearest === null || normalizeName(nearest) === normal ? "" : `; did you mean ${nearest}?`;
}
