import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PackageError } from "../../src/packages/errors.js";
import { GUEST_ENVIRONMENT } from "../../src/packages/marker.js";
import { parseRequirement } from "../../src/packages/requirement.js";
import { resolve } from "../../src/packages/resolve.js";
import type { Candidate, Offers } from "../../src/packages/source.js";
import { meets } from "../../src/packages/specifier.js";
import { compareVersions, parseVersion } from "../../src/packages/version.js";

/** Packages with their versions and what each version asks for. */
type World = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** The port of the choice over a world that is written down in a test. */
function offersOf(world: World, refused: ReadonlySet<string> = new Set()): Offers<Candidate> {
  return {
    async candidates(name) {
      const versions = world[name];
      if (versions === undefined) throw new PackageError("package_unknown", `nobody has ${name}`);
      return Object.keys(versions)
        .flatMap((text) => {
          const version = parseVersion(text);
          return version === null ? [] : [{ name, version }];
        })
        .sort((a, b) => compareVersions(b.version, a.version));
    },
    async requirements({ name, version }) {
      if (refused.has(`${name} ${version.text}`))
        throw new PackageError("package_native", `${name} ${version.text} is native`);
      return (world[name]?.[version.text] ?? []).map(parseRequirement);
    },
  };
}

async function choose(
  world: World,
  roots: readonly string[],
  refused?: ReadonlySet<string>,
): Promise<Record<string, string>> {
  const choices = await resolve(roots.map(parseRequirement), offersOf(world, refused), GUEST_ENVIRONMENT);
  return Object.fromEntries([...choices].map(([name, { candidate }]) => [name, candidate.version.text]));
}

describe("the choice of versions", () => {
  test("is the newest that fits, with all it needs", async () => {
    const world = {
      jinja2: { "3.1": ["markupsafe>=2.0"], "3.0": [] },
      markupsafe: { "2.1.2": [], "1.1": [], "3.0rc1": [] },
      six: { "1.16": [] },
    };

    expect(await choose(world, ["jinja2"])).toEqual({ jinja2: "3.1", markupsafe: "2.1.2" });
    expect(await choose(world, ["Jinja2<3.1", "six"])).toEqual({ jinja2: "3.0", six: "1.16" });
    expect(await choose(world, ["markupsafe>=3.0rc1"])).toEqual({ markupsafe: "3.0rc1" });
  });

  test("takes a prerelease when there is nothing else", async () => {
    expect(await choose({ a: { "1.0b2": [], "1.0b1": [] } }, ["a"])).toEqual({ a: "1.0b2" });
  });

  test("goes round a circle once", async () => {
    expect(await choose({ a: { "1": ["b"] }, b: { "2": ["c"] }, c: { "3": ["a>=1", "b"] } }, ["a"])).toEqual({
      a: "1",
      b: "2",
      c: "3",
    });
  });

  test("leaves out what markers rule out, and adds extras that are asked for, early or late", async () => {
    const world = {
      a: { "1": ['old; python_version < "3.8"', 'win; sys_platform == "win32"', 'x; extra == "more"', "b"] },
      b: { "1": ["a[more]"] },
      c: { "1": [] },
      x: { "1": ['c; extra == "deep"'] },
    };

    expect(await choose(world, ["a"])).toEqual({ a: "1", b: "1", x: "1" });
    expect(await choose(world, ["x[deep]"])).toEqual({ x: "1", c: "1" });
    expect(await choose(world, ['c; sys_platform == "win32"', "x"])).toEqual({ x: "1" });
  });

  test("goes back to an older version where the newest rules another out", async () => {
    const world = { a: { "2": ["c>=2"], "1": ["c<2"] }, b: { "1": ["c<2"] }, c: { "2": [], "1": [] } };

    expect(await choose(world, ["a", "b"])).toEqual({ a: "1", b: "1", c: "1" });
  });

  test("goes to an older version where the newest is refused, and says why when none is left", async () => {
    const world = { a: { "2": [], "1": [] } };

    expect(await choose(world, ["a"], new Set(["a 2"]))).toEqual({ a: "1" });
    await expect(choose(world, ["a"], new Set(["a 2", "a 1"]))).rejects.toThrow("a 2 is native");
  });

  test("that cannot be made says who asked for what", async () => {
    const world = { a: { "1": ["c>=2"] }, b: { "1": ["c<2"] }, c: { "2": [], "1": [] } };

    await expect(choose(world, ["a", "b"])).rejects.toMatchObject({
      code: "package_conflict",
      message: "no version of c fits: a 1 asked for c>=2; b 1 asked for c<2; there is 2, 1",
    });
    await expect(choose(world, ["c==7"])).rejects.toThrow("no version of c fits: you asked for c==7; there is 2, 1");
    await expect(choose({ a: { "1": ["gone"] } }, ["a"])).rejects.toThrow("a 1 needs gone: nobody has gone");
  });

  test("does not try other versions of packages that have nothing to do with a conflict", async () => {
    const versions = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}`, []]));
    const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
    const world = { ...Object.fromEntries(names.map((name) => [name, versions])), last: { "1": ["p0<10"] } };

    expect(await choose(world, [...names, "last"])).toMatchObject({ p0: "9", p1: "19", p11: "19", last: "1" });
    await expect(choose({ ...world, last: { "1": ["p0<0"] } }, [...names, "last"])).rejects.toThrow(
      "no version of p0 fits: you asked for p0; last 1 asked for p0<0; there is 19",
    );
  });

  test("ends in a world made to keep it busy", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
    const versions = Array.from({ length: 20 }, (_, index) => `${index}`);
    const world = {
      ...Object.fromEntries(
        names.map((name) => [name, Object.fromEntries(versions.map((v) => [v, [`sum==${v}`, ...names]]))]),
      ),
      sum: Object.fromEntries(versions.map((v) => [v, []])),
    };
    const different = names.map((name, index) => `${name}!=${index}`);

    expect(await choose(world, different)).toMatchObject({ p0: "19", sum: "19" });
    await expect(choose({ ...world, sum: { "77": [] } }, different)).rejects.toMatchObject({
      code: "package_conflict",
    });
  });
});

const NAMES = ["a", "b", "c", "d"];
const DEMANDS = ["", "==1", "<2", ">=2", ">=3", "!=2"];
const demand = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...DEMANDS))
  .map(([name, wanted]) => `${name}${wanted}`);
const world: fc.Arbitrary<World> = fc.record(
  Object.fromEntries(
    NAMES.map((name) => [
      name,
      fc.record({
        "1": fc.array(demand, { maxLength: 2 }),
        "2": fc.array(demand, { maxLength: 2 }),
        "3": fc.array(demand, { maxLength: 2 }),
      }),
    ]),
  ),
);

/** Every way to give each package a version or none, compared with all that is asked for. */
function isPossible(given: World, roots: readonly string[]): boolean {
  const options = [null, "1", "2", "3"];
  return options.some((a) =>
    options.some((b) => options.some((c) => options.some((d) => fits(given, roots, { a, b, c, d })))),
  );
}

function fits(given: World, roots: readonly string[], chosen: Readonly<Record<string, string | null>>): boolean {
  const asked = Object.entries(chosen).flatMap(([name, version]) =>
    version === null ? [] : (given[name]?.[version] ?? []),
  );
  return [...roots, ...asked].every((text) => {
    const { name, specifiers } = parseRequirement(text);
    const version = parseVersion(chosen[name] ?? "");
    return version !== null && meets(version, specifiers);
  });
}

test("in any small world, a choice is found exactly where there is one, and it fits", async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.array(demand, { minLength: 1, maxLength: 3 }), async (given, roots) => {
      const chosen = await choose(given, roots).catch((error: unknown) => {
        expect(error).toMatchObject({ code: "package_conflict" });
        return null;
      });
      expect(chosen !== null).toBe(isPossible(given, roots));
      if (chosen !== null) expect(fits(given, roots, chosen)).toBe(true);
    }),
    { numRuns: 500 },
  );
});
