import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allowsPrereleases, meets, parseSpecifiers } from "../../src/packages/specifier.js";
import { compareVersions, parseVersion, type Version } from "../../src/packages/version.js";

function version(text: string): Version {
  const parsed = parseVersion(text);
  if (parsed === null) throw new Error(`${text} is no version`);
  return parsed;
}

/** PEP 440's own example of an order, with more of everything. */
const IN_ORDER = [
  "0.0.dev1",
  "0.9",
  "1.0.dev456",
  "1.0a1",
  "1.0a2.dev456",
  "1.0a12.dev456",
  "1.0a12",
  "1.0b1.dev456",
  "1.0b2",
  "1.0b2.post345.dev456",
  "1.0b2.post345",
  "1.0rc1.dev456",
  "1.0rc1",
  "1.0",
  "1.0+abc.5",
  "1.0+abc.7",
  "1.0+5",
  "1.0.post456.dev34",
  "1.0.post456",
  "1.0.15",
  "1.1.dev1",
  "2013.10",
  "1!0.1",
];

describe("versions", () => {
  test("are ordered as PEP 440 orders them", () => {
    for (const [i, a] of IN_ORDER.entries()) {
      for (const [j, b] of IN_ORDER.entries()) {
        expect(Math.sign(compareVersions(version(a), version(b))), `${a} and ${b}`).toBe(Math.sign(i - j));
      }
    }
  });

  test.for([
    ["v1.0", "1.0"],
    ["1.0-ALPHA.3", "1.0a3"],
    ["1.0c1", "1.0rc1"],
    ["1.0preview2", "1.0rc2"],
    ["1.0-3", "1.0.post3"],
    ["1.0rev", "1.0.post0"],
    ["1.0_dev", "1.0.dev0"],
    ["1.0+Ubuntu-1", "1.0+ubuntu.1"],
    [" 01.002 ", "1.2"],
  ])("%s is %s in normal form", ([written = "", normal]) => {
    expect(parseVersion(written)?.text).toBe(normal);
  });

  test.for(["", "banana", "1.0-", "1..0", "1.0+", "1.0.x", `1${".0".repeat(200)}`, "9".repeat(20)])(
    "%s is none",
    (text) => {
      expect(parseVersion(text)).toBeNull();
    },
  );

  test("with zeros at the end are the same, and their text reads as the same version", () => {
    expect(compareVersions(version("1.0"), version("1.0.0.0"))).toBe(0);
    const part = fc.nat({ max: 30 });
    const texts = fc.tuple(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.constantFrom("", "a1", "rc2", ".post1", ".dev3", "+x.1"),
    );
    fc.assert(
      fc.property(texts, texts, ([a, tailA], [b, tailB]) => {
        const [one, other] = [version(`${a.join(".")}${tailA}`), version(`${b.join(".")}${tailB}`)];
        expect(compareVersions(version(one.text), one)).toBe(0);
        expect(Math.sign(compareVersions(one, other))).toBe(-Math.sign(compareVersions(other, one)) + 0);
      }),
    );
  });
});

describe("specifiers", () => {
  test.for([
    ["2.0", "==2.0.0", true],
    ["2.0+local", "==2.0", true],
    ["2.0", "==2.0+local", false],
    ["2.1.3", "==2.1.*", true],
    ["2.10", "==2.1.*", false],
    ["2", "==2.0.*", true],
    ["2.1rc1", "==2.1.*", true],
    ["2.1.3", "!=2.1.*", false],
    ["2.2.post3", "~=2.2", true],
    ["2.9", "~=2.2", true],
    ["3.0", "~=2.2", false],
    ["1.4.9", "~=1.4.5", true],
    ["1.5", "~=1.4.5", false],
    ["1.4.4", "~=1.4.5", false],
    ["3.0rc1", "<3", false],
    ["3.0rc1", "<3.0rc2", true],
    ["2.9rc1", "<3", true],
    ["3.0.post1", ">3.0", false],
    ["3.0.post2", ">3.0.post1", true],
    ["3.0+x", ">3.0", false],
    ["3.0.1", ">3.0", true],
    ["3.0+x", "<=3.0", true],
    ["1!1.0", ">2", true],
    ["1.0", "===1.0", true],
    ["1.0.0", "===1.0", false],
    ["2.5", ">=2,<3,!=2.4", true],
    ["2.4", ">=2, <3 ,!=2.4", false],
    ["2.4", "", true],
  ] as const)("%s against %s: %s", ([text, specifiers, expected]) => {
    expect(meets(version(text), parseSpecifiers(specifiers))).toBe(expected);
  });

  test.for(["2.0", "=2.0", ">=", "~=2", ">=2.*", "==2.0.*.*", ">=abc", `${">=1,".repeat(100)}`])(
    "%s is refused",
    (text) => {
      expect(() => parseSpecifiers(text)).toThrow(/PEP 440/);
    },
  );

  test("let testers in who name a prerelease themselves", () => {
    expect(allowsPrereleases(parseSpecifiers(">=2.0rc1"))).toBe(true);
    expect(allowsPrereleases(parseSpecifiers(">=2.0,!=3.0rc1"))).toBe(false);
  });
});
