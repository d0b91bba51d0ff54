import type { GuestFuel } from "./guest-fuel.js";

/** Measured, and written by `node bench/dist/sandbox/figures.js --write`; tests compare it with the guest. */
export const NPM_PYTHON_FUEL: GuestFuel = {
  costs: "1",
  start: 414_944_449,
  empty: 478_343,
  work: [
    {
      name: "1,000,000 turns of `for i in range(1_000_000): pass`",
      code: "for i in range(1_000_000): pass",
      fuel: 1_837_100_528,
    },
    {
      name: "1,000,000 turns with `total += i`, at the top of a program",
      code: "total = 0\nfor i in range(1_000_000): total += i",
      fuel: 5_150_263_414,
    },
    {
      name: "the same inside of a function",
      code: "def f():\n  total = 0\n  for i in range(1_000_000): total += i\nf()",
      fuel: 2_271_636_568,
    },
    {
      name: "`sum(range(1_000_000))`",
      code: "sum(range(1_000_000))",
      fuel: 1_997_928_201,
    },
    {
      name: "`sum(xs)` over a list of 1,000,000 numbers",
      before: "xs = list(range(1_000_000))",
      code: "sum(xs)",
      fuel: 1_442_528_474,
    },
    {
      name: "100,000 calls of a small function",
      before: "def f(x): return x",
      code: "for i in range(100_000): f(i)",
      fuel: 440_970_923,
    },
    {
      name: "`import json` (the sandbox has it loaded)",
      code: "import json",
      fuel: 106_355,
    },
    {
      name: "`import re, decimal, datetime`",
      code: "import re, decimal, datetime",
      fuel: 24_536_115,
    },
    {
      name: "`import sqlite3`",
      code: "import sqlite3",
      fuel: 20_681_318,
    },
    {
      name: "`import asyncio`",
      code: "import asyncio",
      fuel: 466_934_325,
    },
    {
      name: "sorting a list of 100,000 numbers",
      before: "xs = [i * 7919 % 100_003 for i in range(100_000)]",
      code: "xs.sort()",
      fuel: 314_454_218,
    },
    {
      name: "1 MB of JSON: `json.dumps` and `json.loads`",
      before:
        "import json\nrows = [{'id': i, 'name': 'item %d' % i, 'price': i / 4, 'tags': ['a', 'b']} for i in range(13_780)]",
      code: "json.loads(json.dumps(rows))",
      fuel: 1_306_201_788,
    },
    {
      name: "SHA-256 of 1 MB",
      before: "import hashlib\ndata = bytes(1_000_000)",
      code: "hashlib.sha256(data).hexdigest()",
      fuel: 407_557_317,
    },
    {
      name: "openpyxl: a workbook of 1,000 rows with 5 cells",
      before: "import openpyxl\nbook = openpyxl.Workbook()",
      code: "for i in range(1000): book.active.append([i, 'item', i / 4, True, None])\nbook.save('a.xlsx')",
      packages: ["openpyxl"],
      fuel: 1_904_120_339,
    },
    {
      name: "openpyxl: reading it back",
      before:
        "import openpyxl\nbook = openpyxl.Workbook()\nfor i in range(1000): book.active.append([i, 'item', i / 4, True, None])\nbook.save('a.xlsx')",
      code: "[[cell.value for cell in row] for row in openpyxl.load_workbook('a.xlsx').active]",
      packages: ["openpyxl"],
      fuel: 1_348_936_810,
    },
    {
      name: "jinja2: a template, and a page of 1,000 items",
      before: "import jinja2",
      code: "jinja2.Template('{% for i in xs %}<li>{{ i|e }}</li>{% endfor %}').render(xs=range(1000))",
      packages: ["jinja2"],
      fuel: 82_842_109,
    },
  ],
  imports: [
    {
      package: "openpyxl",
      code: "import openpyxl",
      first: 2_402_087_929,
      cached: 86_139,
    },
    {
      package: "openpyxl",
      code: "import openpyxl, openpyxl.chart, openpyxl.styles, openpyxl.formatting, openpyxl.worksheet.table",
      first: 2_401_700_009,
      cached: 432_478,
    },
    {
      package: "PyPDF2",
      code: "import PyPDF2",
      first: 871_334_603,
      cached: 88_508,
    },
    {
      package: "PyPDF2",
      code: "from PyPDF2 import PdfMerger, PdfReader, PdfWriter",
      first: 871_440_772,
      cached: 250_647,
    },
    {
      package: "jinja2",
      code: "import jinja2",
      first: 678_837_029,
      cached: 86_473,
    },
    {
      package: "jinja2",
      code: "import jinja2, jinja2.ext, jinja2.sandbox, jinja2.meta",
      first: 727_456_451,
      cached: 318_966,
    },
    {
      package: "markupsafe",
      code: "import markupsafe",
      first: 85_321_375,
      cached: 88_661,
    },
    {
      package: "markupsafe",
      code: "from markupsafe import Markup, escape",
      first: 85_455_877,
      cached: 194_624,
    },
    {
      package: "et_xmlfile",
      code: "import et_xmlfile",
      first: 54_400_357,
      cached: 88_210,
    },
    {
      package: "et_xmlfile",
      code: "from et_xmlfile import xmlfile",
      first: 54_467_492,
      cached: 145_069,
    },
    {
      package: "python-dateutil",
      code: "import dateutil",
      first: 3_409_360,
      cached: 89_059,
    },
    {
      package: "python-dateutil",
      code: "import dateutil.parser, dateutil.relativedelta, dateutil.rrule, dateutil.tz",
      first: 189_505_483,
      cached: 372_247,
    },
    {
      package: "six",
      code: "import six",
      first: 33_781_049,
      cached: 85_359,
    },
    {
      package: "six",
      code: "import six, six.moves",
      first: 34_545_381,
      cached: 160_599,
    },
    {
      package: "tabulate",
      code: "import tabulate",
      first: 67_773_820,
      cached: 89_629,
    },
    {
      package: "tabulate",
      code: "from tabulate import tabulate",
      first: 67_825_575,
      cached: 136_787,
    },
    {
      package: "PyYAML",
      code: "import yaml",
      first: 418_460_243,
      cached: 86_038,
    },
    {
      package: "PyYAML",
      code: "from yaml import safe_dump, safe_load",
      first: 418_598_258,
      cached: 192_130,
    },
    {
      package: "markdown",
      code: "import markdown",
      first: 335_422_835,
      cached: 86_832,
    },
    {
      package: "markdown",
      code: "import markdown, markdown.extensions.extra, markdown.extensions.toc, markdown.extensions.codehilite",
      first: 347_734_998,
      cached: 393_214,
    },
  ],
};
