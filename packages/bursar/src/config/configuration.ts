import { posix } from "node:path";
import { type Dimensions, STANDARD } from "../core/dimensions.js";
import type { Field } from "./field.js";
import { type ForesightSection, readForesight, SHIPPED_FORESIGHT } from "./foresight.js";
import { type Governance, readGovernance, shippedGovernance } from "./governance.js";
import type { Place } from "./place.js";
import type { Problem } from "./problem.js";
import { keyed, Reading } from "./reading.js";
import {
  type NamedStore,
  readAllow,
  readDeployments,
  readStore,
  readWebhook,
  type SectionReader,
  type Webhook,
} from "./sections.js";
import { Source } from "./source.js";
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
  /** What the readers in `ReadOptions.sections` made of theirs, by name. */
  readonly sections: ReadonlyMap<string, unknown>;
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
  /** Readers of further sections at the top of the file, by name: `{ prices: readPrices }`. */
  readonly sections?: Readonly<Record<string, SectionReader>>;
}

/** The largest file: a configuration is read by people. */
export const MOST_BYTES: number = 256 * 1024;

const SECTIONS = ["governance", "store", "webhook", "foresight", "deployments", "allow"];

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
  const {
    file = "configuration",
    dimensions = STANDARD,
    sections: further = {},
    folder = posix.dirname(file),
  } = options;
  const source = new Source(file, text.startsWith("\ufeff") ? text.slice(1) : text);
  const reading = new Reading(source, dimensions);
  const root = text.length > MOST_BYTES ? tooLarge(reading, text.length) : readYaml(source, reading);
  const names = [...SECTIONS, ...Object.keys(further)];
  const fields = root === null ? new Map<string, Field>() : keyed(reading, root, names);
  const store = fields.get("store");
  const webhook = fields.get("webhook");
  const config: Configuration = {
    ...readGovernance(reading, fields.get("governance")),
    file,
    dimensions,
    store: store === undefined ? null : readStore(reading, store, { folder, check: options.checkStore }),
    webhook: webhook === undefined ? null : readWebhook(reading, webhook),
    foresight: readForesight(reading, fields.get("foresight")),
    deployments: readDeployments(reading, fields.get("deployments")),
    allow: readAllow(reading, fields.get("allow")),
    sections: readSections(reading, fields, further),
    notes: reading.notes,
    places: placesOf(fields),
    tightenedBy: [],
    ignored: [],
  };
  reading.finish();
  return config;
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
    sections: new Map(),
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

function readSections(
  reading: Reading,
  fields: ReadonlyMap<string, Field>,
  readers: Readonly<Record<string, SectionReader>>,
): ReadonlyMap<string, unknown> {
  const sections = new Map<string, unknown>();
  for (const [name, reader] of Object.entries(readers)) {
    const field = fields.get(name);
    if (field !== undefined) sections.set(name, reader(reading, field));
  }
  return sections;
}
