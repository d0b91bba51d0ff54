import type { HysteresisOptions, TierListOptions, TierOptions, TiersOptions } from "../ports/tiers.js";
import { describeField, type Field, pathOf } from "./field.js";
import { aboutKey, asMap, asText, keyed, needed, offer, type Reading } from "./reading.js";
import { readFlag, readNumber } from "./scalars.js";

const NAME = /^[\w.-]{1,100}$/;
const NAME_RULE = '1 to 100 letters, digits, ".", "_" and "-"';
const MOST_TIERS = 32;
const MOST_LISTS = 100;

/**
 * Reads lists of models, the best first, that requests for `bursar/<name>` are chosen from:
 * `tiers: { lists: { auto: { floor: small, tiers: [{ name: large, model: gpt-5 }, { name: small, model: gpt-5-mini }] } } }`. What
 * the models cost is not looked up here: `checkTiers` of `bursar/models` does, with the prices that are used.
 */
export function readTiers(reading: Reading, field: Field): TiersOptions {
  const fields = keyed(reading, field, ["enabled", "lists"]);
  const lists = fields.get("lists");
  if (lists === undefined && field.kind === "map") reading.report(field, "has no lists; add one, such as auto");
  const enabled = readFlag(reading, fields.get("enabled"));
  return {
    lists: lists === undefined ? {} : readLists(reading, lists),
    ...(enabled !== null && { enabled }),
  };
}

function readLists(reading: Reading, field: Field): Readonly<Record<string, TierListOptions>> {
  const map = asMap(reading, field, "of names and lists of tiers");
  const members = map?.members ?? [];
  if (map !== null && (members.length === 0 || members.length > MOST_LISTS)) {
    reading.report(field, `has ${members.length} lists; allowed: 1 to ${MOST_LISTS}`);
  }
  const lists: [string, TierListOptions][] = [];
  for (const member of members.slice(0, MOST_LISTS)) {
    if (NAME.test(member.key)) lists.push([member.key, readList(reading, member.value)]);
    else reading.report(aboutKey(member), `is no name of a list; allowed: ${NAME_RULE}`);
  }
  // Some names mean something else when they are assigned to.
  return Object.fromEntries(lists);
}

function readList(reading: Reading, field: Field): TierListOptions {
  const fields = keyed(reading, field, ["tiers", "floor", "when_none_fits", "hysteresis"]);
  const listed = fields.get("tiers");
  if (listed === undefined && field.kind === "map") reading.report(field, "has no tiers; add them, the best first");
  const tiers = listed === undefined ? [] : readListed(reading, listed);
  const names = tiers.map(({ name }) => name);
  const floor = fields.get("floor");
  const lowest = floor === undefined ? null : asText(reading, floor, "the name of a tier");
  if (floor !== undefined && lowest !== null && !names.includes(lowest)) {
    reading.report(floor, () => `is ${describeField(floor)}, which is no tier of this list; ${offer(lowest, names)}`);
  }
  const unfit = fields.get("when_none_fits");
  const said = unfit === undefined ? null : asText(reading, unfit, "pause or stop");
  if (unfit !== undefined && said !== null && said !== "pause" && said !== "stop") {
    reading.report(unfit, `is ${describeField(unfit)}; allowed: pause or stop`);
  }
  const hysteresis = fields.get("hysteresis");
  return {
    tiers,
    ...(lowest !== null && { floor: lowest }),
    ...((said === "pause" || said === "stop") && { when_none_fits: said }),
    ...(hysteresis !== undefined && { hysteresis: readHysteresis(reading, hysteresis) }),
  };
}

function readListed(reading: Reading, field: Field): readonly TierOptions[] {
  if (field.kind !== "list" || field.items.length === 0 || field.items.length > MOST_TIERS) {
    reading.report(field, `is ${describeField(field)}; allowed: a list of 1 to ${MOST_TIERS} tiers, the best first`);
    return [];
  }
  const seen = new Set<string>();
  return field.items.flatMap((item) => {
    const tier = readTier(reading, item);
    if (tier === null) return [];
    if (seen.has(tier.name)) reading.report(item, `names ${tier.name} again; allowed: each name once`);
    seen.add(tier.name);
    return [tier];
  });
}

function readTier(reading: Reading, field: Field): TierOptions | null {
  const fields = keyed(reading, field, ["name", "model", "quality", "capabilities", "context_window"]);
  const named = needed(reading, field, fields, "name");
  const asked = needed(reading, field, fields, "model");
  const name = named === undefined ? null : asText(reading, named, "a name for the tier");
  const model = asked === undefined ? null : asText(reading, asked, "a model as its provider names it");
  if (named !== undefined && name !== null && !NAME.test(name)) {
    reading.report(named, `is ${describeField(named)}; allowed: ${NAME_RULE}`);
  }
  if (asked !== undefined && model?.startsWith("bursar/")) {
    reading.report(asked, "is a list; allowed: a model as its provider names it");
  }
  const quality = readNumber(reading, fields.get("quality"), { whole: false, least: Number.NEGATIVE_INFINITY });
  const window = readNumber(reading, fields.get("context_window"), { least: 1 });
  const capabilities = fields.get("capabilities");
  if (name === null || model === null) return null;
  return {
    name,
    model,
    ...(quality !== null && { quality }),
    ...(capabilities !== undefined && { capabilities: readNames(reading, capabilities) }),
    ...(window !== null && { context_window: window }),
  };
}

function readNames(reading: Reading, field: Field): readonly string[] {
  if (field.kind !== "list") {
    reading.report(field, `is ${describeField(field)}; allowed: a list of capabilities, such as [tools, images]`);
    return [];
  }
  return field.items.flatMap((item, index) => {
    const about = { ...item, path: item.path === "" ? pathOf(field.path, String(index)) : item.path };
    const text = asText(reading, about, "the name of a capability");
    if (text !== null && !NAME.test(text)) reading.report(about, `is ${describeField(item)}; allowed: ${NAME_RULE}`);
    return text === null ? [] : [text];
  });
}

function readHysteresis(reading: Reading, field: Field): HysteresisOptions {
  const fields = keyed(reading, field, ["calls", "margin"]);
  const calls = readNumber(reading, fields.get("calls"), { least: 1, most: 1_000_000 });
  const margin = readNumber(reading, fields.get("margin"), { whole: false, least: 0, most: 100 });
  return { ...(calls !== null && { calls }), ...(margin !== null && { margin }) };
}
