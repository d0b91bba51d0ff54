import type { Bursar } from "bursar";
import { broughtProgram } from "../runs/brought.js";
import type { Equipment } from "../runs/equipment.js";
import { needsFrom } from "../runs/equipment.js";
import type { Given } from "../runs/flags.js";
import { needing } from "../runs/needs.js";
import { command } from "../runs/outcome.js";
import type { Place } from "../runs/place.js";
import { version } from "../version.js";
import type { McpSettings } from "./options.js";
import { sandboxOf } from "./sandbox-of.js";
import { estimatingBy, startingBy } from "./terms.js";

export interface SettingsParts {
  readonly flags: Given;
  readonly place: Place;
  readonly equipment: Equipment;
  readonly bursar: Bursar;
  readonly onError: (error: unknown) => void;
}

/** What MCP needs of a process that drives runs. */
export async function mcpSettings({ flags, place, equipment, bursar, onError }: SettingsParts): Promise<McpSettings> {
  const { defaultPlaces } = await import("@bursar/sandbox");
  const { sandbox, programs } = equipment;
  return {
    bursar,
    version: version(),
    onError,
    sandbox: sandboxOf(sandbox),
    packagesFolder: defaultPlaces().packages,
    programs: programs.map((program) => needing(program, needsFrom(equipment, program))),
    brought: (code) => {
      const program = broughtProgram(code, equipment);
      return needing(program, needsFrom(equipment, program));
    },
    start: startingBy(bursar, place.config),
    estimate: estimatingBy(bursar, place.config),
    commandLine: (name, id) => command(name, id, flags, null),
  };
}
