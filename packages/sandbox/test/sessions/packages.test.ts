import { compilePackages, GuestCompiler } from "@bursar/sandbox/packages";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMPILED, compileAll, fetchPackages, NAMES, openWith, PLAIN, placesOf } from "./package-fixture.js";

const sandbox = await openWith(COMPILED);

beforeAll(async () => {
  await fetchPackages(PLAIN, ["openpyxl"]);
  await compileAll();
}, 600_000);

afterAll(() => sandbox[Symbol.asyncDispose]());

/** Runs programs one after the other in a session of their own, and gives what the last one printed. */
async function printed(packages: readonly string[], ...programs: readonly string[]): Promise<string> {
  const own = await sandbox.createSession({ language: "python", packages, autoPath: true });
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
    const own = await sandbox.createSession({ language: "python", packages: ["openpyxl"], autoPath: true });
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
    await using plain = await openWith(PLAIN);
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
    await using compiler = new GuestCompiler({ sandbox: placesOf(COMPILED) });
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
      sandbox: placesOf(COMPILED),
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
      sandbox: placesOf(COMPILED),
      signal: ending.signal,
    });
    const files = Array.from({ length: 200 }, (_, at) => ({ path: `m${at}.py`, source: Buffer.from("x = 1\n") }));
    const work = own.compile(files);
    ending.abort();
    await expect(work).rejects.toThrow(/abort/i);
  });
});
