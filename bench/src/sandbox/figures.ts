import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Language, openSandbox, type Sandbox } from "@bursar/sandbox";
import { PACKAGES } from "@bursar/sandbox/analysis";
import { addPackages, compilePackages, GuestCompiler } from "@bursar/sandbox/packages";
import type { Bar, Bench, Report } from "../report.js";

/** Both are kept between runs: fetching and compiling is not what is measured. */
const KEPT = fileURLToPath(new URL("../../../node_modules/.cache/bursar-bench/sandbox", import.meta.url));
/** Figures are those of the guest that everybody has. */
const PLACES = { cacheFolder: `${KEPT}/cache`, packagesFolder: `${KEPT}/packages`, guest: "npm" } as const;
const TABLE = fileURLToPath(new URL("../../../packages/sandbox/src/analysis/packages.ts", import.meta.url));
const PLENTY = 1_000_000_000_000;
const TIMEOUT_MS = 10 * 60_000;
const WIDTH = 58;
const TOLERANCE = 0.05;
/** After an import the interpreter has something to tidy up, which the next executions pay for. */
const SETTLING = 3;

/** Imports that programs begin with: the smallest, and one with the parts that people use. */
const IMPORTS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  openpyxl: [
    "import openpyxl",
    "import openpyxl, openpyxl.chart, openpyxl.styles, openpyxl.formatting, openpyxl.worksheet.table",
  ],
  PyPDF2: ["import PyPDF2", "from PyPDF2 import PdfMerger, PdfReader, PdfWriter"],
  jinja2: ["import jinja2", "import jinja2, jinja2.ext, jinja2.sandbox, jinja2.meta"],
  markupsafe: ["import markupsafe", "from markupsafe import Markup, escape"],
  et_xmlfile: ["import et_xmlfile", "from et_xmlfile import xmlfile"],
  "python-dateutil": ["import dateutil", "import dateutil.parser, dateutil.relativedelta, dateutil.rrule, dateutil.tz"],
  six: ["import six", "import six, six.moves"],
  tabulate: ["import tabulate", "from tabulate import tabulate"],
  PyYAML: ["import yaml", "from yaml import safe_dump, safe_load"],
  markdown: [
    "import markdown",
    "import markdown, markdown.extensions.extra, markdown.extensions.toc, markdown.extensions.codehilite",
  ],
};

/** What a piece of code costs is what a program costs with it, without what it costs to get there. */
interface Piece {
  readonly name: string;
  readonly before?: string;
  readonly code: string;
  readonly packages?: readonly string[];
}

const ROWS = "rows = [{'id': i, 'name': 'item %d' % i, 'price': i / 4, 'tags': ['a', 'b']} for i in range(13_780)]";
const JS_ROWS =
  "const rows = Array.from({ length: 15_780 }, (_, i) => ({ id: i, name: 'item ' + i, price: i / 4, tags: ['a', 'b'] }));";

const PIECES: Readonly<Record<Language, readonly Piece[]>> = {
  python: [
    { name: "1,000,000 turns of an empty for", code: "for i in range(1_000_000): pass" },
    { name: "1,000,000 turns that add a number", code: "total = 0\nfor i in range(1_000_000): total += i" },
    {
      name: "the same in a function",
      code: "def f():\n  total = 0\n  for i in range(1_000_000): total += i\nf()",
    },
    { name: "sum() over 1,000,000 numbers", code: "sum(range(1_000_000))" },
    {
      name: "sum() over a list of 1,000,000 numbers",
      before: "xs = list(range(1_000_000))",
      code: "sum(xs)",
    },
    { name: "100,000 calls of a function", before: "def f(x): return x", code: "for i in range(100_000): f(i)" },
    { name: "import json", code: "import json" },
    { name: "import re, decimal, datetime", code: "import re, decimal, datetime" },
    { name: "import sqlite3", code: "import sqlite3" },
    { name: "import asyncio", code: "import asyncio" },
    {
      name: "sorting 100,000 numbers",
      before: "xs = [i * 7919 % 100_003 for i in range(100_000)]",
      code: "xs.sort()",
    },
    { name: "1 MB to JSON and back", before: `import json\n${ROWS}`, code: "json.loads(json.dumps(rows))" },
    {
      name: "SHA-256 of 1 MB",
      before: "import hashlib\ndata = bytes(1_000_000)",
      code: "hashlib.sha256(data).hexdigest()",
    },
    {
      name: "a workbook of 1,000 rows with 5 cells (openpyxl)",
      before: "import openpyxl\nbook = openpyxl.Workbook()",
      code: "for i in range(1000): book.active.append([i, 'item', i / 4, True, None])\nbook.save('a.xlsx')",
      packages: ["openpyxl"],
    },
    {
      name: "reading it back",
      before:
        "import openpyxl\nbook = openpyxl.Workbook()\nfor i in range(1000): book.active.append([i, 'item', i / 4, True, None])\nbook.save('a.xlsx')",
      code: "[[cell.value for cell in row] for row in openpyxl.load_workbook('a.xlsx').active]",
      packages: ["openpyxl"],
    },
    {
      name: "a page with a list of 1,000 items (jinja2)",
      before: "import jinja2",
      code: "jinja2.Template('{% for i in xs %}<li>{{ i|e }}</li>{% endfor %}').render(xs=range(1000))",
      packages: ["jinja2"],
    },
  ],
  javascript: [
    { name: "1,000,000 turns of an empty for", code: "for (let i = 0; i < 1_000_000; i++);" },
    {
      name: "1,000,000 turns that add a number",
      code: "let total = 0; for (let i = 0; i < 1_000_000; i++) total += i;",
    },
    {
      name: "100,000 calls of a function",
      before: "const f = (x) => x;",
      code: "for (let i = 0; i < 100_000; i++) f(i);",
    },
    {
      name: "sorting 100,000 numbers",
      before: "const xs = Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003);",
      code: "xs.sort((a, b) => a - b);",
    },
    {
      name: "sorting 100,000 numbers in a Float64Array",
      before: "const xs = Float64Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003);",
      code: "xs.sort();",
    },
    { name: "1 MB to JSON and back", before: JS_ROWS, code: "JSON.parse(JSON.stringify(rows));" },
  ],
};

interface Range {
  readonly least: number;
  readonly most: number;
}

interface PackageFuel {
  readonly name: string;
  readonly first: Range;
  readonly cached: Range;
}

/** The fuel of imports and of familiar work. There is no time in it: whoever runs it gets the same figures. */
export const figures: Bench = {
  name: "sandbox-figures",
  about: "the fuel of imports and of familiar work, as documents and the table of packages give it",
  async run(): Promise<Report> {
    await using sandbox = await openSandbox({ ...PLACES, workers: 1 });
    await fetchPackages();
    for (const language of ["python", "javascript"] as const) console.log(await work(sandbox, language));
    const measured = await importsOf(sandbox);
    console.log(renderPackages(measured));
    return { tables: [], bars: measured.map(barOf) };
  },
};

async function work(sandbox: Sandbox, language: Language): Promise<string> {
  const fuel = async (code: string, names: readonly string[] = []) => {
    const session = await sandbox.createSession({ ...options(language), packages: names, autoPath: true });
    const consumed = await consumedBy(session, code);
    await session.destroy();
    return consumed;
  };
  const empty = await fuel("");
  const lines = [`${language}`.padEnd(WIDTH) + "fuel".padStart(16), row("an empty program", empty)];
  for (const { name, before = "", code, packages: names } of PIECES[language]) {
    lines.push(row(name, (await fuel(`${before}\n${code}`, names)) - (await fuel(before, names))));
  }
  return `${lines.join("\n")}\n`;
}

async function fetchPackages(): Promise<void> {
  const names = Object.keys(IMPORTS);
  await addPackages(names, { folder: PLACES.packagesFolder });
  await using compiler = new GuestCompiler({ sandbox: PLACES });
  await compilePackages(PLACES.packagesFolder, names, compiler.compile, await compiler.tag());
}

async function importsOf(sandbox: Sandbox): Promise<readonly PackageFuel[]> {
  const measured: PackageFuel[] = [];
  for (const [name, statements] of Object.entries(IMPORTS)) {
    const each: { first: number; cached: number }[] = [];
    for (const statement of statements) each.push(await importFuel(sandbox, name, statement));
    measured.push({
      name,
      first: rangeOf(each.map(({ first }) => first)),
      cached: rangeOf(each.map(({ cached }) => cached)),
    });
  }
  return measured;
}

/** Twice in one session, each without what an empty program costs there at that moment. */
async function importFuel(
  sandbox: Sandbox,
  name: string,
  statement: string,
): Promise<{ readonly first: number; readonly cached: number }> {
  const session = await sandbox.createSession({
    ...options("python"),
    ...{ packages: [name], autoPath: true, autoPersistGlobals: true },
  });
  const before = await consumedBy(session, "");
  const first = await consumedBy(session, statement);
  for (let turn = 0; turn < SETTLING; turn++) await consumedBy(session, "");
  const after = await consumedBy(session, "");
  const cached = await consumedBy(session, statement);
  await session.destroy();
  if (first <= before || cached <= after) throw new Error(`${statement} cost less than nothing; measure it otherwise`);
  return { first: first - before, cached: cached - after };
}

function options(language: Language) {
  return { language, fuelBudget: PLENTY, timeout: TIMEOUT_MS, deterministic: true } as const;
}

async function consumedBy(session: Awaited<ReturnType<Sandbox["createSession"]>>, code: string): Promise<number> {
  const { success, stderr, metadata, fuel_consumed } = await session.execute(code);
  if (!success) throw new Error(`${JSON.stringify(code.slice(0, 80))} failed: ${metadata.trap_message ?? stderr}`);
  return fuel_consumed;
}

function rangeOf(values: readonly number[]): Range {
  return { least: Math.min(...values), most: Math.max(...values) };
}

/** Whether what the table says is still true. A guest that boots a little differently moves figures in their third digit. */
function barOf({ name, first, cached }: PackageFuel): Bar {
  const figure = PACKAGES.find((each) => each.name === name);
  const holds = (said: Range | null | undefined, { least, most }: Range) =>
    said != null && said.least * (1 - TOLERANCE) <= least && most <= said.most * (1 + TOLERANCE);
  const met = holds(figure?.first, first) && holds(figure?.cached, cached);
  const measured = `${literal(first)} first, ${literal(cached)} cached`;
  return { name: `the table of packages knows ${name}`, measured, met };
}

function renderPackages(measured: readonly PackageFuel[]): string {
  const head = `${"import, compiled".padEnd(WIDTH)}${"fuel".padStart(16)}`;
  const lines = measured.flatMap(({ name, first, cached }) => [
    row(`${name}, first: at least`, first.least),
    row(`${name}, first: at most`, first.most),
    row(`${name}, cached: at most`, cached.most),
  ]);
  return [head, ...lines].join("\n");
}

function row(name: string, fuel: number): string {
  return `  ${name.padEnd(WIDTH - 2)}${fuel.toLocaleString("en-US").padStart(16)}`;
}

/** To two digits, down and up: what is measured lies within. */
function outwards({ least, most }: Range): Range {
  const unit = (value: number) => 10 ** Math.max(0, String(value).length - 2);
  return {
    least: Math.floor(least / unit(least)) * unit(least),
    most: Math.ceil(most / unit(most)) * unit(most),
  };
}

/** Puts the figures into the table of the sandbox, where each entry has its place for them. */
async function write(measured: readonly PackageFuel[]): Promise<void> {
  let text = await readFile(TABLE, "utf8");
  for (const { name, first, cached } of measured) {
    const entry = new RegExp(`(name: "${name}",[^]*?)first: (?:null|\\{[^}]*\\}),(\\s*)cached: (?:null|\\{[^}]*\\})`);
    if (!entry.test(text)) throw new Error(`${TABLE} has no entry for ${name}`);
    text = text.replace(entry, (_, head, gap) => `${head}first: ${literal(first)},${gap}cached: ${literal(cached)}`);
  }
  await writeFile(TABLE, text);
}

function literal(range: Range): string {
  const { least, most } = outwards(range);
  const digits = (value: number) => value.toLocaleString("en-US").replaceAll(",", "_");
  return `{ least: ${digits(least)}, most: ${digits(most)} }`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { write: { type: "boolean" } } });
  if (values.write === true) {
    await fetchPackages();
    await using sandbox = await openSandbox({ ...PLACES, workers: 1 });
    const measured = await importsOf(sandbox);
    console.log(renderPackages(measured));
    await write(measured);
  } else {
    await figures.run(false);
  }
}
