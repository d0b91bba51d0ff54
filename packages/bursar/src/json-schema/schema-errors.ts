import type { OutputUnit } from "@cfworker/json-schema";
import { CONTAINERS } from "./explain-mismatch.js";

/** One thing that is wrong with a value. */
export interface SchemaError {
  /** `type`, `required`, `additionalProperties` and so on. */
  readonly keyword: string;
  /** Where it is in the value: keys, and indexes in decimal. */
  readonly path: readonly string[];
  /** The schema that has the keyword. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The property that is missing, or that is not allowed; null for errors about a value. */
  readonly property: string | null;
}

/** Turns what the validator reports into one error for each thing that is wrong. */
export function toSchemaErrors(
  units: readonly OutputUnit[],
  schemaAt: (location: string) => unknown,
): readonly SchemaError[] {
  const errors: SchemaError[] = [];
  let index = 0;
  while (index < units.length) {
    const unit = units[index] as OutputUnit;
    index++;
    if (unit.keyword === "false") errors.push(unknownProperty(unit, units[index - 2], schemaAt));
    else if (!CONTAINERS.has(unit.keyword)) {
      errors.push(errorOf(unit, units[index], schemaAt));
      index = endOfAlternatives(units, index, unit);
    }
  }
  return errors;
}

/** After `anyOf`, `not` and the like come the errors of the schemas in it, which are not errors of the value. */
function endOfAlternatives(units: readonly OutputUnit[], start: number, { keywordLocation }: OutputUnit): number {
  let end = start;
  while (units[end]?.keywordLocation.startsWith(`${keywordLocation}/`)) end++;
  return end;
}

function unknownProperty(
  { instanceLocation }: OutputUnit,
  container: OutputUnit | undefined,
  schemaAt: (location: string) => unknown,
): SchemaError {
  const path = pathOf(instanceLocation);
  return {
    keyword: container?.keyword ?? "false",
    path: path.slice(0, -1),
    schema: schemaAround(container?.keywordLocation ?? "#", schemaAt),
    property: path.at(-1) ?? null,
  };
}

function errorOf(
  { keyword, instanceLocation, keywordLocation, error }: OutputUnit,
  next: OutputUnit | undefined,
  schemaAt: (location: string) => unknown,
): SchemaError {
  const missing = keyword === "required" ? (/ required property "(.*)"\.$/s.exec(error)?.[1] ?? null) : null;
  const misnamed = keyword === "propertyNames" && next !== undefined ? pathOf(next.instanceLocation).at(-1) : null;
  const schema = schemaAround(keywordLocation, schemaAt);
  return { keyword, path: pathOf(instanceLocation), schema, property: missing ?? misnamed ?? null };
}

function schemaAround(keywordLocation: string, schemaAt: (location: string) => unknown): SchemaError["schema"] {
  const schema = schemaAt(keywordLocation.slice(0, keywordLocation.lastIndexOf("/")));
  return typeof schema === "object" && schema !== null ? (schema as SchemaError["schema"]) : {};
}

function pathOf(location: string): readonly string[] {
  return location
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}
