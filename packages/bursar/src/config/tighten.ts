import type { Amount } from "../core/amount.js";
import { strictest } from "../core/policy.js";
import { PREFLIGHT_POLICIES } from "../foresight/preflight.js";
import type { Base } from "./base.js";
import type { Configuration } from "./configuration.js";
import { defaultBase, effectiveBudget } from "./effective.js";
import type { ForesightSection } from "./foresight-section.js";
import { isAbove, type NamedAgent, printLimit, type SharedLimits } from "./governance.js";
import { EMPTY_LAYER, type Layer, laidOver } from "./layer.js";
import { printOrigin, type Stated, type StatedBy } from "./origin.js";
import type { Place } from "./place.js";
import type { NamedPolicy } from "./policies.js";
import type { Problem } from "./problem.js";
import { sessionOf, tenantOf } from "./shared.js";

/**
 * A configuration with the files of working folders, the outermost first. An agent may be able to write such a file, so each can
 * only tighten what is known before it: smaller limits, stricter policies, lower ceilings, more warnings. What would loosen, and
 * what says where something is, is sent or kept, is ignored and told in `ignored`.
 */
export function tightenConfig(base: Configuration, folders: readonly Configuration[]): Configuration {
  return folders.reduce(tightenBy, base);
}

/** The same configuration without its store, because the environment names one. */
export function withoutStore(config: Configuration, url: string | undefined): Configuration {
  const { store } = config;
  if (store === null || store.url === url) return config;
  return {
    ...config,
    store: null,
    ignored: [...config.ignored, ignored("store", store.place, "BURSAR_STORE names one")],
  };
}

/**
 * The same configuration, found in a folder and with no file above it, without a foreign address for batches: a key would be
 * sent there, and an agent may have written the file.
 */
export function withoutForeignBatches(config: Configuration): Configuration {
  const { batches } = config.foresight;
  const host = batches?.url === undefined ? null : new URL(batches.url).hostname;
  if (host === null || HARMLESS_HOSTS.test(host)) return config;
  const place = config.places.get("foresight.batches") ?? null;
  const why = `a file of a working folder does not say that keys are sent to ${host}; name the file with --config`;
  return {
    ...config,
    foresight: { ...config.foresight, batches: null },
    ignored: [...config.ignored, ignored("foresight.batches", place, why)],
  };
}

/** This machine, and the providers themselves. */
const HARMLESS_HOSTS = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|api\.openai\.com|api\.anthropic\.com)$/;

function tightenBy(base: Configuration, folder: Configuration): Configuration {
  const known = withNames(base, folder);
  return {
    ...known,
    foresight: strictForesight(base.foresight, folder.foresight),
    notes: [...base.notes, ...folder.notes],
    tightenedBy: [...base.tightenedBy, folder],
    ignored: [...base.ignored, ...onlyOnce([...loosenings(known, folder), ...redirections(base, folder)])],
  };
}

/** A name that a folder gives means, in the file that has the last word, what a run without it gets. */
function withNames(base: Configuration, folder: Configuration): Configuration {
  const usual = base.policies.get(base.defaultPolicy.value);
  const anySession = base.sessions.get("default")?.layer ?? EMPTY_LAYER;
  const policies = [...folder.policies].map(([name, policy]): [string, NamedPolicy] => {
    return [name, { ...policy, own: EMPTY_LAYER, layer: usual?.layer ?? EMPTY_LAYER }];
  });
  const agents = [...folder.agents].map(([name, agent]): [string, NamedAgent] => {
    return [name, { ...agent, policy: null, layer: EMPTY_LAYER }];
  });
  const sessions = [...folder.sessions].map(([name, session]): [string, SharedLimits] => {
    return [name, { ...session, layer: anySession }];
  });
  return {
    ...base,
    policies: new Map([...policies, ...base.policies]),
    agents: new Map([...agents, ...base.agents]),
    sessions: new Map([...sessions, ...base.sessions]),
  };
}

/** A folder can have more runs asked about before they begin, and more be held; nothing else of what looks ahead. */
function strictForesight(base: ForesightSection, folder: ForesightSection): ForesightSection {
  if (!base.enabled) return base;
  const rank = ({ preflight }: ForesightSection) => PREFLIGHT_POLICIES.indexOf(preflight);
  return {
    ...base,
    preflight: rank(folder) > rank(base) ? folder.preflight : base.preflight,
    reservations: folder.reservations === "full" ? "full" : base.reservations,
  };
}

const TIGHTENS_ONLY = "a file of a working folder can only tighten";

function ignored(path: string, place: Place | null, why: string): Problem {
  return { field: path, message: `${path} is ignored: ${why}`, place, excerpt: null };
}

/** What a policy says is said again by each that builds on it, at the same place. */
function onlyOnce(problems: readonly Problem[]): readonly Problem[] {
  const keyOf = ({ place, field }: Problem) =>
    `${place?.line}:${place?.column}:${field.split(".").slice(-2).join(".")}`;
  const first = new Map<string, Problem>();
  for (const problem of problems) if (!first.has(keyOf(problem))) first.set(keyOf(problem), problem);
  return [...first.values()];
}

/** What says where something is kept or sent, which model is asked, and what is used again: the folder does not decide it. */
function redirections(base: Configuration, folder: Configuration): readonly Problem[] {
  const strict = strictForesight(base.foresight, folder.foresight);
  return [...folder.places].flatMap(([path, place]) => {
    if (path === "governance" || path === "foresight" || isSame(path, base, folder)) return [];
    if (path === "foresight.preflight" || path === "foresight.reservations") {
      const key = path === "foresight.preflight" ? "preflight" : "reservations";
      const why = `it is less strict than ${strict[key]}; ${TIGHTENS_ONLY}`;
      return strict[key] === folder.foresight[key] ? [] : [ignored(path, place, why)];
    }
    const why = `it stands in your own file (${base.file}) or in one that is named with --config; ${TIGHTENS_ONLY}`;
    return [ignored(path, place, why)];
  });
}

/** Whether a section, or a key of `foresight`, says the same in both. */
function isSame(path: string, base: Configuration, folder: Configuration): boolean {
  const sectionOf = (config: Configuration): unknown => {
    if (path === "store") return config.store?.url ?? null;
    const foresight = path.startsWith("foresight.") ? path.slice("foresight.".length) : null;
    return foresight === null
      ? config[path as keyof Configuration]
      : config.foresight[foresight as keyof ForesightSection];
  };
  return JSON.stringify(sectionOf(base)) === JSON.stringify(sectionOf(folder));
}

/** What a folder says of limits and policies that is looser than what is known. */
function loosenings(known: Configuration, folder: Configuration): readonly Problem[] {
  const usual = folder.defaultPolicy;
  const compare = (path: string, layer: Layer, question: { agent?: string; policy?: string }, place: Place | null) =>
    looserLayer(known, { path, layer, place, ...question });
  const policies = [...folder.policies.values()].flatMap(({ name, layer, origin }) => {
    if (origin.kind !== "policy") return [];
    return compare(`governance.policies.${name}`, layer, name === usual.value ? {} : { policy: name }, origin.place);
  });
  const chosen = folder.policies.get(usual.value);
  const isShipped = chosen !== undefined && chosen.origin.kind !== "policy";
  const agents = [...folder.agents.values()].flatMap(({ name, layer, policy, origin }) => {
    const below = policy === null ? EMPTY_LAYER : (folder.policies.get(policy.value)?.layer ?? EMPTY_LAYER);
    const place = policy?.origin.place ?? origin.place;
    return compare(`governance.agents.${name}`, laidOver(layer, below), { agent: name }, place);
  });
  const sessions = [...folder.sessions.values()].flatMap(({ name, layer }) =>
    looserShared(known, `governance.sessions.${name}`, layer, sessionOf(known, name)),
  );
  const { tenant } = folder;
  return [
    ...policies,
    ...(isShipped ? compare("governance.default_policy", chosen.layer, {}, usual.origin.place) : []),
    ...agents,
    ...sessions,
    ...(tenant === null ? [] : looserShared(known, "governance.tenant", tenant.layer, tenantOf(known))),
  ];
}

interface FolderLayer {
  readonly path: string;
  readonly layer: Layer;
  /** Of what has no place of its own, such as what a shipped policy says that is built on. */
  readonly place: Place | null;
  readonly agent?: string;
  readonly policy?: string;
}

function looserLayer(known: Configuration, { path, layer, place, agent, policy }: FolderLayer): readonly Problem[] {
  const base = defaultBase(known, agent, policy);
  const found = known.dimensions.all.flatMap((dimension): readonly Problem[] => {
    const { id } = dimension;
    const own = base.get(id);
    const above = (key: string, stated: Stated<Amount | null> | undefined, most: Stated<Amount | null> | null) => {
      if (stated === undefined || most === null || !isAbove(stated.value, most.value)) return null;
      const [asked, allowed] = [printLimit(dimension, stated.value), printLimit(dimension, most.value)];
      const why = `${asked} is above ${allowed} (${printOrigin(most.origin)}); ${TIGHTENS_ONLY}`;
      return ignored(`${path}.${key}.${id}`, stated.origin.place ?? place, why);
    };
    if (own === undefined) return [];
    return [
      above("budgets", layer.limits[id], own.limit),
      above("ceilings", layer.ceilings[id], own.ceiling),
      looserPolicy(path, id, layer.policies, base, place),
    ].filter((problem) => problem !== null);
  });
  return [
    ...found,
    ...fewerWarnings(known, {
      path,
      layer,
      place,
      ...(agent !== undefined && { agent }),
      ...(policy !== undefined && { policy }),
    }),
  ];
}

function looserPolicy(
  path: string,
  id: string,
  policies: Layer["policies"],
  base: Base,
  place: Place | null,
): Problem | null {
  const [stated, own] = [policies[id], base.get(id)?.policy];
  if (stated === undefined || own === undefined || strictest(stated.value, own.value) === stated.value) return null;
  const why = `${stated.value} is less strict than ${own.value} (${printOrigin(own.origin)}); ${TIGHTENS_ONLY}`;
  return ignored(`${path}.exhaustion_policies.${id}`, stated.origin.place ?? place, why);
}

function fewerWarnings(known: Configuration, { path, layer, place, agent, policy }: FolderLayer): readonly Problem[] {
  const answer = effectiveBudget({ config: known, agent, policy, authority: "operator" });
  if (answer.kind === "refused") return [];
  const { thresholds, approval_expiry_ms, dimensions } = answer.budget;
  const found: Problem[] = [];
  const missing = thresholds.value.filter((percent) => layer.thresholds?.value.includes(percent) === false);
  if (layer.thresholds !== null && missing.length > 0) {
    const why = `it leaves out ${missing.join(", ")} (${printOrigin(thresholds.origin)}), which stay; ${TIGHTENS_ONLY}`;
    found.push(ignored(`${path}.thresholds`, layer.thresholds.origin.place ?? place, why));
  }
  if (layer.approval_expiry_ms !== null && layer.approval_expiry_ms.value > approval_expiry_ms.value) {
    const why = `it is longer than ${approval_expiry_ms.value} ms (${printOrigin(approval_expiry_ms.origin)}); ${TIGHTENS_ONLY}`;
    found.push(ignored(`${path}.approval_expiry_ms`, layer.approval_expiry_ms.origin.place ?? place, why));
  }
  for (const { dimension, reserve } of dimensions) {
    const stated = layer.reserve[dimension.id];
    if (stated === undefined || reserve === null || stated.value === reserve.value) continue;
    const why = `${printLimit(dimension, reserve.value)} is set aside already (${printOrigin(reserve.origin)})`;
    found.push(ignored(`${path}.wrap_up_reserve.${dimension.id}`, stated.origin.place ?? place, why));
  }
  return found;
}

/** Of a session or the tenant: what is not named there is no limit, so that to name one is never looser. */
function looserShared(
  { dimensions }: Configuration,
  path: string,
  layer: Layer,
  known: SharedLimits | null,
): readonly Problem[] {
  if (known === null) return [];
  const limits: StatedBy<Amount | null> = known.layer.limits;
  return dimensions.all.flatMap((dimension): readonly Problem[] => {
    const { id, defaultPolicy } = dimension;
    const [stated, most, policy] = [layer.limits[id], limits[id], layer.policies[id]];
    const found: Problem[] = [];
    if (stated !== undefined && most !== undefined && isAbove(stated.value, most.value)) {
      const figures = `${printLimit(dimension, stated.value)} is above ${printLimit(dimension, most.value)}`;
      const why = `${figures} (${printOrigin(most.origin)}); ${TIGHTENS_ONLY}`;
      found.push(ignored(`${path}.budgets.${id}`, stated.origin.place, why));
    }
    const own = known.layer.policies[id]?.value ?? defaultPolicy;
    if (policy !== undefined && most !== undefined && strictest(policy.value, own) !== policy.value) {
      const why = `${policy.value} is less strict than ${own}; ${TIGHTENS_ONLY}`;
      found.push(ignored(`${path}.exhaustion_policies.${id}`, policy.origin.place, why));
    }
    return found;
  });
}
