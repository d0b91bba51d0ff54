import type { Bursar } from "bursar";
import { broughtProgram } from "../app/equipment/client-program.js";
import type { Equipment } from "../app/equipment/equipment.js";
import { needsFrom } from "../app/equipment/equipment.js";
import { sandboxOf } from "../app/equipment/opened-sandbox.js";
import { needing } from "../app/programs/program-needs.js";
import { estimatingBy, startingBy } from "../app/runs/start-runs.js";
import type { Place } from "../app/store/opened-store.js";
import { version } from "../app/version.js";
import type { McpSettings } from "./options.js";

export interface SettingsParts {
  readonly commandLine: NonNullable<McpSettings["commandLine"]>;
  readonly place: Place;
  readonly equipment: Equipment;
  readonly bursar: Bursar;
  readonly onError: (error: unknown) => void;
}

/** What MCP needs of a process that drives runs. */
export async function mcpSettings({
  commandLine,
  place,
  equipment,
  bursar,
  onError,
}: SettingsParts): Promise<McpSettings> {
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
    commandLine,
  };
}
