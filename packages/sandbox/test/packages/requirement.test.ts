import { describe, expect, test } from "vitest";
import { GUEST_ENVIRONMENT } from "../../src/packages/marker.js";
import { parseMetadata, parseRequiresTxt } from "../../src/packages/metadata.js";
import { nearestName, normalizeName } from "../../src/packages/names.js";
import { applies, parseRequirement, writeRequirement } from "../../src/packages/requirement.js";

describe("names", () => {
  test.for(["et_xmlfile", "ET.xmlfile", "et-xmlfile", "Et__-.XMLfile"])("%s is et-xmlfile", (name) => {
    expect(normalizeName(name)).toBe("et-xmlfile");
  });

  test.for(["", "-x", "x-", "a b", "../x", "x/y", "é", "a".repeat(200)])("%s is none", (name) => {
    expect(() => normalizeName(name)).toThrow(/no package name/);
  });

  test("that are nearly right are recognised, others are not", () => {
    const known = ["openpyxl", "jinja2", "tabulate", "six"];
    expect(nearestName("opnepyxl", known)).toBe("openpyxl");
    expect(nearestName("Jinja", known)).toBe("jinja2");
    expect(nearestName("sx", known)).toBe("six");
    expect(nearestName("pandas", known)).toBeNull();
  });
});

describe("requirements", () => {
  test.for([
    ["jinja2", "jinja2", [], ""],
    ["Jinja2[i18n, Async_X] (>=2.0,<4)", "jinja2", ["i18n", "async-x"], ">=2.0,<4"],
    ["six>=1.5", "six", [], ">=1.5"],
    ['typing_extensions >= 3.10 ; python_version < "3.10"', "typing-extensions", [], ">=3.10"],
    ["zope.interface ~= 5.0", "zope-interface", [], "~=5.0"],
  ] as const)("%s", ([text, name, extras, specifiers]) => {
    const requirement = parseRequirement(text);

    expect(requirement).toMatchObject({ name, extras });
    expect(writeRequirement(requirement).endsWith(specifiers)).toBe(true);
  });

  test.for([
    "",
    "a b",
    "--index-url=x",
    "jinja2[",
    "jinja2 >= ",
    "a;",
    "a; python",
    "x;(((os_name == 'a'",
    "a; foo == 'b'",
  ])("%s is refused", (text) => {
    expect(() => parseRequirement(text)).toThrow();
  });

  test("that name a file of their own are refused", () => {
    expect(() => parseRequirement("evil @ https://host/evil.whl")).toThrow(/only packages of an index/);
  });

  test("that are made to keep us busy end soon", () => {
    expect(() => parseRequirement(`x; ${"(".repeat(1_000)}`)).toThrow(/PEP 508/);
    expect(() => parseRequirement(`x${" ".repeat(10_000)}`)).toThrow(/no package requirement/);
    expect(() => parseRequirement(`x; ${'os_name == "a" or '.repeat(120)}os_name == "b"`)).toThrow(/PEP 508/);
  });
});

describe("markers", () => {
  test.for([
    ['python_version < "3.8"', false],
    ['python_version >= "3.10"', true],
    ["python_full_version == '3.12.*'", true],
    ["sys_platform == 'wasi'", true],
    ['sys_platform == "win32" or os_name == "posix"', true],
    ['sys_platform == "win32" and (os_name == "posix" or os_name == "nt")', false],
    ["platform_system != 'Linux'", true],
    ["'linux' in sys_platform", false],
    ["sys_platform not in 'linux darwin win32'", true],
    ['"3.7" <= python_version', true],
    ["platform_machine == 'x86_64'", false],
    ["implementation_name == 'cpython' and platform_python_implementation == 'CPython'", true],
    ["os.name == 'posix'", true],
    ['extra == "test"', false],
  ] as const)("%s: %s in the guest", ([marker, expected]) => {
    expect(applies(parseRequirement(`x; ${marker}`), GUEST_ENVIRONMENT, [])).toBe(expected);
  });

  test("about extras hold for those that were asked for, in any spelling", () => {
    const requirement = parseRequirement('x; extra == "Dev_Tools" and python_version > "3"');

    expect(applies(requirement, GUEST_ENVIRONMENT, ["other"])).toBe(false);
    expect(applies(requirement, GUEST_ENVIRONMENT, ["other", "dev-tools"])).toBe(true);
  });
});

describe("metadata", () => {
  test("is read up to the description", () => {
    const text =
      "Name: PyPDF2\r\nVersion: 2.12.1\r\nRequires-Dist: a\r\nRequires-Dist: b; extra == 'x'\r\n\r\nName: other\r\n";

    expect(parseMetadata(text)).toMatchObject({
      name: "PyPDF2",
      version: "2.12.1",
      requirements: ["a", "b; extra == 'x'"],
    });
  });

  test.for([
    ["License-Expression: MIT\nLicense: see below", "MIT"],
    ["License: BSD\n 3-clause\n and more", "BSD"],
    ["License: UNKNOWN\nClassifier: License :: OSI Approved :: MIT License", "MIT License"],
    ["Classifier: Topic :: Text", null],
  ] as const)("finds the licence in %s", ([lines, licence]) => {
    expect(parseMetadata(`Name: a\nVersion: 1\n${lines}\n`).licence).toBe(licence);
  });

  test("without a name is refused", () => {
    expect(() => parseMetadata("Version: 1\n")).toThrow(/Name and Version/);
  });

  test("of older packages keeps requirements in sections", () => {
    const text =
      'six\n\n[:python_version < "3"]\nenum34\n\n[test]\npytest>=3\n\n[win:sys_platform == "win32"]\ncolorama\n';

    expect(parseRequiresTxt(text)).toEqual([
      "six",
      'enum34 ; (python_version < "3")',
      'pytest>=3 ; extra == "test"',
      'colorama ; (sys_platform == "win32") and extra == "win"',
    ]);
    expect(parseRequiresTxt(text).filter((each) => applies(parseRequirement(each), GUEST_ENVIRONMENT, []))).toEqual([
      "six",
    ]);
  });
});
