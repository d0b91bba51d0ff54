import type { Language } from "@bursar/sandbox";
import type { WorkFigure } from "@bursar/sandbox/guests";

/** Imports that programs begin with: the smallest, and one with the parts that people use. */
export const IMPORTS: Readonly<Record<string, readonly [string, ...string[]]>> = {
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
export type Piece = Omit<WorkFigure, "fuel">;

const ROWS = "rows = [{'id': i, 'name': 'item %d' % i, 'price': i / 4, 'tags': ['a', 'b']} for i in range(13_780)]";
const JS_ROWS =
  "const rows = Array.from({ length: 15_780 }, (_, i) => ({ id: i, name: 'item ' + i, price: i / 4, tags: ['a', 'b'] }));";

export const PIECES: Readonly<Record<Language, readonly Piece[]>> = {
  python: [
    { name: "1,000,000 turns of `for i in range(1_000_000): pass`", code: "for i in range(1_000_000): pass" },
    {
      name: "1,000,000 turns with `total += i`, at the top of a program",
      code: "total = 0\nfor i in range(1_000_000): total += i",
    },
    {
      name: "the same inside of a function",
      code: "def f():\n  total = 0\n  for i in range(1_000_000): total += i\nf()",
    },
    { name: "`sum(range(1_000_000))`", code: "sum(range(1_000_000))" },
    {
      name: "`sum(xs)` over a list of 1,000,000 numbers",
      before: "xs = list(range(1_000_000))",
      code: "sum(xs)",
    },
    { name: "100,000 calls of a small function", before: "def f(x): return x", code: "for i in range(100_000): f(i)" },
    { name: "`import json` (the sandbox has it loaded)", code: "import json" },
    { name: "`import re, decimal, datetime`", code: "import re, decimal, datetime" },
    { name: "`import sqlite3`", code: "import sqlite3" },
    { name: "`import asyncio`", code: "import asyncio" },
    {
      name: "sorting a list of 100,000 numbers",
      before: "xs = [i * 7919 % 100_003 for i in range(100_000)]",
      code: "xs.sort()",
    },
    {
      name: "1 MB of JSON: `json.dumps` and `json.loads`",
      before: `import json\n${ROWS}`,
      code: "json.loads(json.dumps(rows))",
    },
    {
      name: "SHA-256 of 1 MB",
      before: "import hashlib\ndata = bytes(1_000_000)",
      code: "hashlib.sha256(data).hexdigest()",
    },
    {
      name: "openpyxl: a workbook of 1,000 rows with 5 cells",
      before: "import openpyxl\nbook = openpyxl.Workbook()",
      code: "for i in range(1000): book.active.append([i, 'item', i / 4, True, None])\nbook.save('a.xlsx')",
      packages: ["openpyxl"],
    },
    {
      name: "openpyxl: reading it back",
      before:
        "import openpyxl\nbook = openpyxl.Workbook()\nfor i in range(1000): book.active.append([i, 'item', i / 4, True, None])\nbook.save('a.xlsx')",
      code: "[[cell.value for cell in row] for row in openpyxl.load_workbook('a.xlsx').active]",
      packages: ["openpyxl"],
    },
    {
      name: "jinja2: a template, and a page of 1,000 items",
      before: "import jinja2",
      code: "jinja2.Template('{% for i in xs %}<li>{{ i|e }}</li>{% endfor %}').render(xs=range(1000))",
      packages: ["jinja2"],
    },
  ],
  javascript: [
    { name: "1,000,000 turns of `for (let i = 0; i < 1_000_000; i++);`", code: "for (let i = 0; i < 1_000_000; i++);" },
    {
      name: "1,000,000 turns with `total += i`",
      code: "let total = 0; for (let i = 0; i < 1_000_000; i++) total += i;",
    },
    {
      name: "100,000 calls of a small function",
      before: "const f = (x) => x;",
      code: "for (let i = 0; i < 100_000; i++) f(i);",
    },
    {
      name: "sorting an array of 100,000 numbers with `(a, b) => a - b`",
      before: "const xs = Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003);",
      code: "xs.sort((a, b) => a - b);",
    },
    {
      name: "sorting a `Float64Array` of 100,000 numbers",
      before: "const xs = Float64Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003);",
      code: "xs.sort();",
    },
    {
      name: "1 MB of JSON: `JSON.stringify` and `JSON.parse`",
      before: JS_ROWS,
      code: "JSON.parse(JSON.stringify(rows));",
    },
  ],
};
