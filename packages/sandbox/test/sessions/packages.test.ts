import { join } from "node:path";
import {
  addPackages,
  compilePackages,
  GuestCompiler,
  licences,
  openSandbox,
  PackageError,
  type SandboxSession,
  type SessionOptions,
} from "@bursar/sandbox";
import { type FuelRange, PACKAGES } from "@bursar/sandbox/analysis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { writeFuel, writeRange } from "../../src/analysis/fuel-amount.js";
import { suggestBudget } from "../../src/analysis/suggestion.js";
import { CACHE } from "../python/parts.js";

const NAMES = ["openpyxl", "PyPDF2", "jinja2", "python-dateutil", "tabulate", "PyYAML", "markdown"];
/** Both are kept from one run of the tests to the next: one as it was fetched, one compiled. */
const PLAIN = join(CACHE, "packages-plain");
const COMPILED = join(CACHE, "packages");
const B = 1_000_000_000;

const open = (packagesFolder: string) =>
  openSandbox({ cacheFolder: CACHE, packagesFolder, keyFile: join(CACHE, "key"), workers: 1 });
const sandbox = await open(COMPILED);
const compiler = new GuestCompiler({ sandbox: { cacheFolder: CACHE, packagesFolder: COMPILED } });

beforeAll(async () => {
  await fetched(PLAIN, ["openpyxl"]);
  await fetched(COMPILED, NAMES);
  await compilePackages(COMPILED, NAMES, compiler.compile, await compiler.tag());
}, 600_000);

afterAll(async () => {
  await compiler[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

/** Fetches packages from Debian unless an earlier run has. */
async function fetched(folder: string, names: readonly string[]): Promise<void> {
  try {
    await licences(folder, names);
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    await addPackages(names, { folder, source: "debian" }).catch((cause: Error) => {
      throw new Error(`these tests fetch real packages from Debian and could not: ${cause.message}`, { cause });
    });
  }
}

async function session(packages: readonly string[], options: Partial<SessionOptions> = {}): Promise<SandboxSession> {
  return sandbox.createSession({ language: "python", packages, autoPath: true, deterministic: true, ...options });
}

/** Runs programs one after the other in a session of their own, and gives what the last one printed. */
async function printed(packages: readonly string[], ...programs: readonly string[]): Promise<string> {
  const own = await session(packages);
  let stdout = "";
  for (const code of programs) {
    const result = await own.execute(code);
    expect(result.stderr).toBe("");
    expect(result.metadata.trap_message).toBeNull();
    stdout = result.stdout;
  }
  await own.destroy();
  return stdout;
}

describe("in the guest", () => {
  test("openpyxl writes a workbook with a chart, and reads it back", async () => {
    const write = `
import openpyxl
from openpyxl.chart import BarChart, Reference

book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Sales"
for row in [("region", "total"), ("north", 12), ("south", 30.5), ("wést", 18)]:
    sheet.append(row)
sheet["B5"] = "=SUM(B2:B4)"
chart = BarChart()
chart.title = "Totals"
chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=4), titles_from_data=True)
chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=4))
sheet.add_chart(chart, "D2")
book.save("sales.xlsx")
`;
    const read = `
import openpyxl, zipfile
sheet = openpyxl.load_workbook("sales.xlsx")["Sales"]
print([tuple(cell.value for cell in row) for row in sheet.iter_rows()])
print([type(chart).__name__ for chart in sheet._charts])
print("xl/charts/chart1.xml" in zipfile.ZipFile("sales.xlsx").namelist())
`;
    const own = await session(["openpyxl"]);
    const written = await own.execute(write);
    expect([written.stderr, written.files_created]).toEqual(["", ["/app/sales.xlsx"]]);
    const file = Buffer.from(await own.readFile("sales.xlsx"));
    expect(file.subarray(0, 2).toString()).toBe("PK");

    expect((await own.execute(read)).stdout).toBe(
      "[('region', 'total'), ('north', 12), ('south', 30.5), ('wést', 18), (None, '=SUM(B2:B4)')]\n['BarChart']\nTrue\n",
    );
    await own.destroy();
  });

  test("PyPDF2 merges two documents that it has made", async () => {
    const code = `
from PyPDF2 import PdfMerger, PdfReader, PdfWriter

for name, sizes in [("a.pdf", [(200, 100)]), ("b.pdf", [(300, 150), (50, 60)])]:
    writer = PdfWriter()
    for width, height in sizes:
        writer.add_blank_page(width=width, height=height)
    with open(name, "wb") as file:
        writer.write(file)
merger = PdfMerger()
for name in ["a.pdf", "b.pdf"]:
    merger.append(name)
merger.add_metadata({"/Title": "both"})
merger.write("both.pdf")
merger.close()
both = PdfReader("both.pdf")
print(both.metadata.title, [(int(page.mediabox.width), int(page.mediabox.height)) for page in both.pages])
`;
    expect(await printed(["PyPDF2"], code)).toBe("both [(200, 100), (300, 150), (50, 60)]\n");
  });

  test("jinja2 renders a template, and escapes what is put into it", async () => {
    const code = `
from jinja2 import DictLoader, Environment

pages = {"base": "<ul>{% block items %}{% endblock %}</ul>",
         "list": "{% extends 'base' %}{% block items %}{% for each in names %}<li>{{ loop.index }} {{ each|upper }}</li>{% endfor %}{% endblock %}"}
print(Environment(loader=DictLoader(pages), autoescape=True).get_template("list").render(names=["a & b", "<script>"]))
`;
    expect(await printed(["jinja2"], code)).toBe("<ul><li>1 A &amp; B</li><li>2 &lt;SCRIPT&gt;</li></ul>\n");
  });

  test("dateutil reads dates, and counts with them", async () => {
    const code = `
from dateutil import parser, relativedelta, rrule

moment = parser.parse("3 March 2024 14:05 +0200")
print(moment.isoformat(), moment.date() + relativedelta.relativedelta(months=+1, day=31))
print([day.strftime("%d.%m.") for day in rrule.rrule(rrule.WEEKLY, count=3, dtstart=moment)])
`;
    expect(await printed(["python-dateutil"], code)).toBe(
      "2024-03-03T14:05:00+02:00 2024-04-30\n['03.03.', '10.03.', '17.03.']\n",
    );
  });

  test("tabulate sets a table", async () => {
    const code = `
from tabulate import tabulate
print(tabulate([["bolts", 12.5], ["nuts", 3]], headers=["item", "total"], tablefmt="github"))
`;
    expect(await printed(["tabulate"], code)).toBe(
      "| item   |   total |\n|--------|---------|\n| bolts  |    12.5 |\n| nuts   |     3   |\n",
    );
  });

  test("PyYAML writes and reads, and makes no objects that nobody asked for", async () => {
    const code = `
import datetime, yaml

data = {"name": "wést", "since": datetime.date(2024, 3, 1), "tags": ["a", None, True, 1.5], "deep": {"x": {"y": []}}}
text = yaml.safe_dump(data, allow_unicode=True)
print(text.splitlines()[0:2], yaml.safe_load(text) == data)
try:
    yaml.safe_load("!!python/object/apply:os.getcwd []")
except yaml.YAMLError as error:
    print(type(error).__name__)
`;
    expect(await printed(["PyYAML"], code)).toBe("['deep:', '  x:'] True\nConstructorError\n");
  });

  test("markdown renders, with an extension", async () => {
    const code = `
import markdown
print(markdown.markdown("# Hi\\n\\n*a* & b\\n\\nx | y\\n--|--\\n1 | 2", extensions=["tables"]))
`;
    const html = await printed(["markdown"], code);
    expect(html).toContain("<h1>Hi</h1>\n<p><em>a</em> &amp; b</p>\n<table>");
    expect(html).toContain("<td>2</td>");
  });

  test("packages live together, and none of their files can be changed", async () => {
    const code = `
import jinja2, yaml, tabulate
try:
    open(yaml.__file__, "a")
except OSError as error:
    print(yaml.__file__, error.strerror)
`;
    expect(await printed(["jinja2", "PyYAML", "tabulate"], code)).toBe(
      "/data/site-packages/yaml/__init__.py Read-only file system\n",
    );
  });
});

describe("compiled once", () => {
  test("nothing is left to compile for an import, which costs less, and where code came from is still known", async () => {
    const code = `
from importlib.machinery import SourceFileLoader

compiled, compile_source = [], SourceFileLoader.source_to_code
def noting(self, data, path, **options):
    if path.startswith("/data/"):
        compiled.append(path)
    return compile_source(self, data, path, **options)
SourceFileLoader.source_to_code = noting
import openpyxl
print(len(compiled), openpyxl.load_workbook.__code__.co_filename)
`;
    await using plain = await open(PLAIN);
    const options = { language: "python", packages: ["openpyxl"], autoPath: true, deterministic: true } as const;
    const before = await (await plain.createSession(options)).execute(code);
    const after = await (await sandbox.createSession(options)).execute(code);

    expect(before.stdout).toMatch(/^1\d\d \/data\/site-packages\/openpyxl\/reader\/excel\.py\n$/);
    expect(after.stdout).toBe("0 /data/site-packages/openpyxl/reader/excel.py\n");
    expect(after.fuel_consumed).toBeLessThan(before.fuel_consumed);
  });

  test("nothing is compiled a second time", async () => {
    const refuse = async () => {
      throw new Error("this has been compiled");
    };
    expect(await compilePackages(COMPILED, NAMES, refuse, await compiler.tag())).toBe(0);
  });

  test("sources that cannot be compiled stay sources, and the others are compiled", async () => {
    const source = (text: string) => Buffer.from(text);
    const files = [
      { path: "good.py", source: source("# -*- coding: latin-1 -*-\nx = 1\n") },
      { path: "old.py", source: source("print 'Python 2'\n") },
      { path: "deep.py", source: source(`x = ${"not ".repeat(50_000)}1\n`) },
      { path: "binary.py", source: source("\0\0\0") },
      { path: "large.py", source: Buffer.alloc(5 * 1024 * 1024, "#") },
      { path: "also/good.py", source: source("def f():\n    return 2\n") },
    ];
    const seen: (readonly [number, number])[] = [];
    await using own = new GuestCompiler({
      sandbox: { cacheFolder: CACHE, packagesFolder: COMPILED },
      progress: (done, total) => seen.push([done, total]),
    });
    const compiled = await own.compile(files);

    expect([...compiled.keys()]).toEqual(["good.py", "also/good.py"]);
    const all = files.reduce((sum, file) => sum + file.source.length, 0);
    expect(seen.at(-1)).toEqual([all, all]);
    expect(Buffer.from(compiled.get("good.py") ?? []).toString("latin1")).toContain("/data/site-packages/good.py");
    // PEP 552: a hash that is not compared, so that the guest never reads the source.
    expect(Buffer.from(compiled.get("good.py") ?? []).readUInt32LE(4)).toBe(1);
  });

  test("compiling can be interrupted", async () => {
    const ending = new AbortController();
    await using own = new GuestCompiler({
      sandbox: { cacheFolder: CACHE, packagesFolder: COMPILED },
      signal: ending.signal,
    });
    const files = Array.from({ length: 200 }, (_, at) => ({ path: `m${at}.py`, source: Buffer.from("x = 1\n") }));
    const work = own.compile(files);
    ending.abort();
    await expect(work).rejects.toThrow(/abort/i);
  });
});

/** What the table says that the first import of a package takes. */
function firstOf(name: string): FuelRange {
  const first = PACKAGES.find((each) => each.name === name)?.first;
  if (first == null) throw new Error(`${name} has not been measured; run the bench sandbox-figures`);
  return first;
}

function heavy(name: string): string {
  return `Heavy package import detected: ${name} (requires ${writeRange(firstOf(name))} fuel)`;
}

describe("the analysis of real imports", () => {
  const analyze = async (own: SandboxSession, code: string) => {
    const { fuel_consumed, metadata } = await own.execute(code);
    return { ...metadata.fuel_analysis, fuel: fuel_consumed, guidance: metadata.error_guidance };
  };

  test("agrees with the table of packages", async () => {
    for (const [name, module] of [
      ["jinja2", "jinja2"],
      ["PyYAML", "yaml"],
      ["markdown", "markdown"],
    ] as const) {
      const first = firstOf(name);
      const { fuel_consumed } = await (await session([name])).execute(`import ${module}`);

      expect(fuel_consumed, name).toBeGreaterThanOrEqual(first.least * 0.9);
      expect(fuel_consumed, name).toBeLessThanOrEqual(first.most * 1.1);
    }
  });

  scenario("000/first-import-in-session", "in a real session", async () => {
    const own = await session(["openpyxl"], { autoPersistGlobals: true });
    const { status, recommendation, fuel } = await analyze(own, "import openpyxl");

    expect(status).toBe("efficient");
    const [, amount] =
      /^First import of openpyxl consumed ([\d.]+)B fuel\. Subsequent imports will use <\d+K fuel due to caching\.$/.exec(
        recommendation ?? "",
      ) ?? [];
    expect(Number(amount) * B).toBeGreaterThan(fuel * 0.98);
    expect(Number(amount) * B).toBeLessThan(fuel * 1.01);
  });

  scenario("000/cached-import-in-existing-session", "in a real session", async () => {
    const own = await session(["openpyxl"], { autoPersistGlobals: true });
    const first = await analyze(own, "import openpyxl");
    const second = await analyze(own, "import openpyxl\nprint(openpyxl.__version__)");
    const third = await analyze(own, "book = openpyxl.Workbook()");

    const cached = "Fuel usage low due to cached imports from previous executions in this session.";
    expect(second.recommendation).toBe(cached);
    expect(third.recommendation).toBe(cached);
    expect(second.fuel).toBeLessThan(first.fuel / 1000);
  });

  scenario("000/session-recommendation", "in a real session", async () => {
    const own = await session(["jinja2"], { fuelBudget: 4 * B });
    const first = await analyze(own, "import jinja2");
    const second = await analyze(own, "import jinja2");

    expect(first.recommendation).toMatch(
      /^First import of jinja2 consumed \d+(\.\d+)?M fuel\. .* due to caching in a session with auto_persist_globals=True\.$/,
    );
    expect(second.recommendation).toBe(
      "Consider using persistent session with auto_persist_globals=True to cache imports across executions",
    );
    expect(second.fuel).toBeGreaterThan(first.fuel * 0.9);
  });

  test("a light import is not worth a word", async () => {
    const own = await session(["tabulate"], { autoPersistGlobals: true });

    expect((await analyze(own, "import tabulate")).recommendation).toBeNull();
    expect((await analyze(own, "import tabulate")).recommendation).toBeNull();
  });

  describe("when it takes most of the budget", () => {
    let consumed = 0;
    const withBudget = async (percent: number) => {
      const own = await session(["PyYAML"], { fuelBudget: Math.ceil((consumed * 100) / percent) });
      return {
        ...(await analyze(own, "import yaml")),
        suggestion: (factor: 1.5 | 2) => suggestBudget(consumed, factor),
      };
    };
    const cause = heavy("PyYAML");

    beforeAll(async () => {
      consumed = (await (await session(["PyYAML"])).execute("import yaml")).fuel_consumed;
    });

    scenario("000/moderate-fuel-usage", "of a real import", async () => {
      const analysis = await withBudget(62.5);

      expect(analysis).toMatchObject({ consumed, status: "moderate", likely_causes: [cause] });
      expect(analysis.recommendation).toMatch(
        /^Code used 62% of fuel budget - acceptable for current workload\. First/,
      );
    });

    scenario("000/warning-fuel-usage", "of a real import", async () => {
      const analysis = await withBudget(85.5);

      expect(analysis).toMatchObject({ consumed, status: "warning", likely_causes: [cause] });
      expect(analysis.recommendation).toContain(
        `Code used 85% of fuel budget. Consider increasing budget to ${analysis.suggestion(1.5) / 1e6}M+ instructions`,
      );
    });

    scenario("000/critical-fuel-usage", "of a real import", async () => {
      const analysis = await withBudget(97.5);

      expect(analysis).toMatchObject({ consumed, status: "critical", likely_causes: [cause] });
      expect(analysis.recommendation).toContain(
        `CRITICAL: Code used 97% of fuel budget. Increase budget to at least ${analysis.suggestion(2) / 1e6}M instructions`,
      );
    });

    scenario("000/heavy-package-import-detection", "of a real import, from the guest's own record", async () => {
      const own = await session(["PyYAML"], { fuelBudget: Math.ceil(consumed * 1.2) });
      const analysis = await analyze(own, "module = __import__('ya' + 'ml')");

      expect(analysis.likely_causes).toEqual([cause]);
    });
  });

  scenario("000/multiple-package-imports-detection", "in a real session", async () => {
    const own = await session(["markdown", "PyYAML"], { fuelBudget: 1 * B });
    const analysis = await analyze(own, "import markdown, yaml");

    expect(analysis.status).toBe("warning");
    expect(analysis.likely_causes).toEqual([
      heavy("markdown"),
      heavy("PyYAML"),
      "Multiple package imports (cumulative fuel cost)",
    ]);
  });

  scenario("000/package-specific-recommendations", "in a real session", async () => {
    const own = await session(["openpyxl"], { fuelBudget: 1 * B });
    const analysis = await analyze(own, "import openpyxl");

    expect(analysis).toMatchObject({ status: "exhausted", consumed: 1 * B });
    expect(analysis.likely_causes).toContain(heavy("openpyxl"));
    const first = firstOf("openpyxl");
    const fuelBudget = suggestBudget(first.most, 2);
    expect(analysis.recommendation).toContain(
      `openpyxl requires ${writeRange(first)} fuel for first import. Increase budget to ${writeFuel(fuelBudget)}+ for reliable openpyxl usage.`,
    );
    // Whoever follows the advice has enough.
    expect((await own.execute("import openpyxl", { fuelBudget })).success).toBe(true);
  });

  scenario("001/outoffuel-error-guidance", "in the middle of a real import", async () => {
    const own = await session(["openpyxl"], { fuelBudget: 1 * B });
    const { guidance } = await analyze(own, "import openpyxl");

    expect(guidance?.error_type).toBe("OutOfFuel");
    expect(guidance?.actionable_guidance).toContain(
      `Likely cause: Heavy package imports (openpyxl ${writeRange(firstOf("openpyxl"))})`,
    );
  });

  scenario("001/missing-vendored-package-import-error-guidance", "mounted, but not on sys.path", async () => {
    const own = await session(["tabulate"], { autoPath: false });
    const { guidance } = await analyze(own, "import tabulate");

    expect(guidance).toEqual({
      error_type: "MissingVendoredPackage",
      error_message: "ModuleNotFoundError: No module named 'tabulate'",
      actionable_guidance: [
        "Package 'tabulate' is pre-installed but requires sys.path configuration",
        "Add at start of code: import sys; sys.path.insert(0, '/data/site-packages')",
        "Then import normally: import tabulate",
        "Note: In MCP server, sys.path is auto-configured - this error should not occur",
      ],
      related_docs: ["docs/PYTHON_CAPABILITIES.md#using-vendored-packages"],
    });
    const advised = await own.execute("import sys; sys.path.insert(0, '/data/site-packages')\nimport tabulate");
    expect(advised).toMatchObject({ success: true, stderr: "" });
  });

  scenario("001/missing-vendored-package-import-error-guidance", "known, but not mounted", async () => {
    const own = await session([]);
    const { guidance } = await analyze(own, "import dateutil.parser");

    expect(guidance).toMatchObject({
      error_type: "MissingVendoredPackage",
      error_message: "ModuleNotFoundError: No module named 'dateutil'",
      actionable_guidance: [
        "Package 'python-dateutil' is known but not mounted in this session: create the session with packages: ['python-dateutil']",
        "Then import normally: import dateutil",
      ],
    });
  });

  scenario("001/stderr-based-classification", "a module that nobody knows gets no guidance", async () => {
    const { guidance } = await analyze(await session([]), "import no_such_module_at_all");

    expect(guidance ?? null).toBeNull();
  });
});
