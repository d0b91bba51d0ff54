import { PackageError } from "./errors.js";
import type { Environment } from "./marker.js";
import { applies, type Requirement, writeRequirement } from "./requirement.js";
import type { Candidate, Offers } from "./source.js";
import { allowsPrereleases, meets } from "./specifier.js";
import { isPrerelease } from "./version.js";

/** A version that was chosen, with the extras somebody asked for. */
export interface Choice<C extends Candidate> {
  readonly candidate: C;
  readonly extras: readonly string[];
  readonly asks: readonly Ask[];
}

interface Ask {
  readonly requirement: Requirement;
  /** Who asks, or null for the user. */
  readonly by: Candidate | null;
}

type Choices<C extends Candidate> = ReadonlyMap<string, Choice<C>>;

/** A failure knows which packages led to it: another version of any other package would change nothing. */
type Attempt<C extends Candidate> =
  | { readonly kind: "solved"; readonly choices: Choices<C> }
  | { readonly kind: "failed"; readonly blamed: ReadonlySet<string> };

const MAX_PACKAGES = 300;
const MAX_STEPS = 5_000;
const MAX_TRIES = 50;
const VERSIONS_SHOWN = 8;

/**
 * Chooses one version of every package that is asked for, directly or by another one: the newest that fits all demands.
 * Where the newest of one rules out all of another, older ones are tried. Circles are no problem, because a package that
 * has been chosen is only compared.
 */
export async function resolve<C extends Candidate>(
  roots: readonly Requirement[],
  offers: Offers<C>,
  environment: Environment,
): Promise<Choices<C>> {
  const asks = roots.filter((root) => applies(root, environment, [])).map((requirement) => ({ requirement, by: null }));
  return await new Resolver(offers, environment).run(asks);
}

class Resolver<C extends Candidate> {
  readonly #offers: Offers<C>;
  readonly #environment: Environment;
  readonly #requirements = new Map<string, readonly Requirement[] | null>();
  #steps = 0;
  /** The first problem is the one about the newest versions, and says most to a reader. */
  #problem: PackageError | null = null;

  constructor(offers: Offers<C>, environment: Environment) {
    this.#offers = offers;
    this.#environment = environment;
  }

  async run(asks: readonly Ask[]): Promise<Choices<C>> {
    const attempt = await this.#solve(asks, new Map());
    if (attempt.kind === "solved") return attempt.choices;
    throw this.#problem ?? new PackageError("package_conflict", "no set of versions fits");
  }

  async #solve(asks: readonly Ask[], chosen: Choices<C>): Promise<Attempt<C>> {
    const [ask, ...rest] = asks;
    if (ask === undefined) return { kind: "solved", choices: chosen };
    if (++this.#steps > MAX_STEPS || chosen.size > MAX_PACKAGES) {
      throw new PackageError(
        "package_conflict",
        `gave up after ${this.#steps} attempts to find versions that fit together; ask for exact versions, as in name==1.2`,
      );
    }
    const candidates = await this.#candidatesFor(ask);
    const name = candidates[0]?.name ?? ask.requirement.name;
    const choice = chosen.get(name);
    if (choice !== undefined) return await this.#join(ask, rest, name, choice, chosen);
    const later = rest.filter(({ requirement }) => requirement.name === ask.requirement.name);
    return await this.#try(name, candidates, [ask, ...later], rest, chosen);
  }

  /** Tries the versions of a package that fit, newest first, until one leads to the end or none could. */
  async #try(
    name: string,
    candidates: readonly C[],
    asks: readonly [Ask, ...Ask[]],
    rest: readonly Ask[],
    chosen: Choices<C>,
  ): Promise<Attempt<C>> {
    const { extras } = asks[0].requirement;
    const blamed = new Set(askers(asks));
    for (const candidate of this.#fitting(candidates, asks).slice(0, MAX_TRIES)) {
      const requirements = await this.#requirementsOf(candidate);
      if (requirements === null) continue;
      const next = new Map(chosen).set(name, { candidate, extras, asks: [asks[0]] });
      const attempt = await this.#solve([...rest, ...this.#asksOf(candidate, requirements, extras)], next);
      if (attempt.kind === "solved" || !attempt.blamed.has(name)) return attempt;
      for (const other of attempt.blamed) if (other !== name) blamed.add(other);
    }
    return { kind: "failed", blamed };
  }

  /** Adds a demand on something that has been chosen already; new extras bring requirements of their own. */
  async #join(
    ask: Ask,
    rest: readonly Ask[],
    name: string,
    { candidate, extras, asks }: Choice<C>,
    chosen: Choices<C>,
  ): Promise<Attempt<C>> {
    if (!meets(candidate.version, ask.requirement.specifiers)) {
      this.#remember(conflict(candidate.name, [...asks, ask], [candidate]));
      return { kind: "failed", blamed: new Set([name, ...askers([...asks, ask])]) };
    }
    const fresh = ask.requirement.extras.filter((extra) => !extras.includes(extra));
    const all = [...extras, ...fresh];
    const requirements = fresh.length === 0 ? [] : ((await this.#requirementsOf(candidate)) ?? []);
    const next = new Map(chosen).set(name, { candidate, extras: all, asks: [...asks, ask] });
    return await this.#solve([...rest, ...this.#asksOf(candidate, requirements, all)], next);
  }

  /** A package that nobody has in any version is the end: an older version of who asks would only hide it. */
  async #candidatesFor({ requirement, by }: Ask): Promise<readonly C[]> {
    try {
      return await this.#offers.candidates(requirement.name);
    } catch (error) {
      if (!(error instanceof PackageError) || by === null) throw error;
      const who = `${by.name} ${by.version.text}`;
      throw new PackageError(error.code, `${who} needs ${requirement.written}: ${error.message}`, { cause: error });
    }
  }

  #fitting(candidates: readonly C[], asks: readonly Ask[]): readonly C[] {
    const specifiers = asks.flatMap(({ requirement }) => requirement.specifiers);
    const matching = candidates.filter(({ version }) => meets(version, specifiers));
    const stable = matching.filter(({ version }) => !isPrerelease(version));
    if (matching.length === 0) this.#remember(conflict(candidates[0]?.name ?? "", asks, candidates));
    return stable.length === 0 || allowsPrereleases(specifiers) ? matching : stable;
  }

  #asksOf(candidate: C, requirements: readonly Requirement[], extras: readonly string[]): readonly Ask[] {
    const counting = requirements.filter((requirement) => applies(requirement, this.#environment, extras));
    return counting.map((requirement) => ({ requirement, by: candidate }));
  }

  /** Null when it turns out that this version cannot be used at all; an older one may be. */
  async #requirementsOf(candidate: C): Promise<readonly Requirement[] | null> {
    const key = `${candidate.name} ${candidate.version.text}`;
    const known = this.#requirements.get(key);
    if (known !== undefined) return known;
    const found = await this.#ask(candidate);
    this.#requirements.set(key, found);
    return found;
  }

  async #ask(candidate: C): Promise<readonly Requirement[] | null> {
    try {
      return await this.#offers.requirements(candidate);
    } catch (error) {
      if (!(error instanceof PackageError) || !["package_native", "package_refused"].includes(error.code)) throw error;
      this.#remember(error);
      return null;
    }
  }

  #remember(problem: PackageError): void {
    this.#problem ??= problem;
  }
}

function askers(asks: readonly Ask[]): readonly string[] {
  return asks.flatMap(({ by }) => (by === null ? [] : [by.name]));
}

function conflict(name: string, asks: readonly Ask[], candidates: readonly Candidate[]): PackageError {
  const demands = asks.map(({ requirement, by }) => {
    const who = by === null ? "you" : `${by.name} ${by.version.text}`;
    return `${who} asked for ${writeRequirement(requirement)}`;
  });
  const shown = candidates.slice(0, VERSIONS_SHOWN).map(({ version }) => version.text);
  const more = candidates.length > shown.length ? ` and ${candidates.length - shown.length} older` : "";
  const there = candidates.length === 0 ? "there is none" : `there is ${shown.join(", ")}${more}`;
  return new PackageError("package_conflict", `no version of ${name} fits: ${demands.join("; ")}; ${there}`);
}
