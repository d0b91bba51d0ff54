import { posix } from "node:path";
import { type Dimensions, STANDARD } from "../core/dimensions.js";
import { checkStructure, fieldAt, readValue } from "./check-structure.js";
import { structureSchema } from "./config-schema.js";
import type { Field } from "./field.js";
import { type ForesightSection, readForesight, SHIPPED_FORESIGHT, type WrittenForesight } from "./foresight-section.js";
import { type Governance, readGovernance, shippedGovernance } from "./governance.js";
import type { Place } from "./place.js";
import type { Problem } from "./problem.js";
import { membersOf, Reading } from "./reading.js";
import { Source } from "./source.js";
import { checkUrl, type NamedStore, readStore, type Webhook } from "./store-section.js";
import { readYaml } from "./yaml.js";

/** What a file says, checked, with the place of everything; or what is there without one. */
export interface Configuration extends Governance {
  /** As it was named; null when there is none. */
  readonly file: string | null;
  readonly dimensions: Dimensions;
  readonly store: NamedStore | null;
  readonly webhook: Webhook | null;
  readonly foresight: ForesightSection;
  /** Which model each deployment runs. */
  readonly deployments: Readonly<Record<string, string>>;
  /** What is sent to each host though it may choose another model or bring input from elsewhere. */
  readonly allow: Readonly<Record<string, readonly string[]>>;
  /** What is allowed, but may not be what was meant. */
  readonly notes: readonly Problem[];
  /** Where its sections stand, and the keys of `foresight`, by path: `webhook`, `foresight.tiers`. */
  readonly places: ReadonlyMap<string, Place | null>;
  /** Files of working folders, the outermost first: each can only tighten what this one says. */
  readonly tightenedBy: readonly Configuration[];
  /** What the files of working folders say and what is ignored, because it would loosen or redirect. */
  readonly ignored: readonly Problem[];
}

export interface ReadOptions {
  /** The name of the file, for messages and origins. */
  readonly file?: string;
  /** Where relative files in it are meant from; the folder of `file` unless another is given. */
  readonly folder?: string;
  /** The dimensions that can be limited; `STANDARD` unless others are given. */
  readonly dimensions?: Dimensions;
  /** Throws when the URL of a store makes no sense: those who open stores know best. */
  readonly checkStore?: (url: string) => void;
}

/** The largest file: a configuration is read by people. */
export const MOST_BYTES: number = 256 * 1024;

/** The sections as their schema has them. */
interface WrittenSections {
  readonly store?: string;
  readonly webhook?: Webhook;
  readonly foresight?: WrittenForesight;
  readonly deployments?: Readonly<Record<string, string>>;
  readonly allow?: Readonly<Record<string, readonly string[]>>;
}

const SCHEMA = structureSchema();

/**
 * Reads a configuration.
 *
 * @example
 * ```ts
 * const config = readConfig("governance: { policies: { default: { budgets: { steps: 20 } } } }", { file: "bursar.yaml" });
 * ```
 *
 * @throws {ConfigError} when anything is wrong, with every problem, its line and its column.
 */
export function readConfig(text: string, options: ReadOptions = {}): Configuration {
  const { file = "configuration", dimensions = STANDARD, folder = posix.dirname(file) } = options;
  const source = new Source(file, text.startsWith("\ufeff") ? text.slice(1) : text);
  const reading = new Reading(source, dimensions);
  const root = text.length > MOST_BYTES ? tooLarge(reading, text.length) : readYaml(source, reading);
  const { store, webhook, foresight, deployments = {}, allow = {} } = root === null ? {} : sectionsIn(reading, root);
  const fields = membersOf(root);
  const config: Configuration = {
    ...readGovernance(reading, fields.get("governance")),
    file,
    dimensions,
    store: null,
    webhook: webhook ?? null,
    foresight: SHIPPED_FORESIGHT,
    deployments,
    allow,
    notes: reading.notes,
    places: placesOf(fields),
    tightenedBy: [],
    ignored: [],
  };
  const named = fields.get("store");
  const ahead = fields.get("foresight");
  const read = {
    ...config,
    ...(store !== undefined &&
      named !== undefined && { store: readStore(reading, named, store, { folder, check: options.checkStore }) }),
    ...(foresight !== undefined && ahead !== undefined && { foresight: readForesight(reading, ahead, foresight) }),
  };
  if (webhook !== undefined && root !== null) checkUrl(reading, fieldAt(root, ["webhook", "url"]), "https://host/path");
  reading.finish();
  return read;
}

/** The sections that are as the schema says; those with a mistake in them are left out. */
function sectionsIn(reading: Reading, root: Field): WrittenSections {
  const broken = checkStructure(reading, SCHEMA, root);
  if (root.kind !== "map") return {};
  const sound = { ...root, members: root.members.filter(({ key }) => key !== "governance" && !broken.has(key)) };
  return readValue(reading, SCHEMA, sound) as WrittenSections;
}

/** What is there without a file: the table of dimensions and the presets. */
export function shippedConfig(dimensions: Dimensions = STANDARD): Configuration {
  const governance = shippedGovernance(dimensions);
  return {
    ...governance,
    file: null,
    dimensions,
    store: null,
    webhook: null,
    foresight: SHIPPED_FORESIGHT,
    deployments: {},
    allow: {},
    notes: [],
    places: new Map(),
    tightenedBy: [],
    ignored: [],
  };
}

function placesOf(fields: ReadonlyMap<string, Field>): ReadonlyMap<string, Place | null> {
  const foresight = fields.get("foresight");
  const inner = foresight?.kind === "map" ? foresight.members : [];
  return new Map([
    ...[...fields].map(([name, { place }]) => [name, place] as const),
    ...inner.map(({ key, place }) => [`foresight.${key}`, place] as const),
  ]);
}

function tooLarge(reading: Reading, size: number): null {
  const about = { path: "", place: null };
  reading.report(about, `the file has ${size} characters; at most ${MOST_BYTES} are read`);
  return null;
}
