import { type Bursar, InputError, type Program } from "bursar";
import type { Configuration } from "bursar/config";
import type { ServerOptions, WantedProgram } from "bursar/server";
import { broughtProgram } from "../app/equipment/client-program.js";
import { type Equipment, needsFrom } from "../app/equipment/equipment.js";
import { needing } from "../app/programs/program-needs.js";
import { estimatingBy, startingBy } from "../app/runs/start-runs.js";

/** Starts runs over HTTP: programs that are offered here, and those that are brought along for the sandbox. */
export function startingFrom(
  bursar: Bursar,
  config: Configuration,
  equipment: Equipment,
): NonNullable<ServerOptions["start"]> {
  const start = startingBy(bursar, config);
  return ({ program, ...wish }, by) => start({ ...wish, program: programOf(program, equipment) }, by);
}

/** Tells what such runs would take. */
export function estimatingFrom(
  bursar: Bursar,
  config: Configuration,
  equipment: Equipment,
): NonNullable<ServerOptions["estimate"]> {
  const estimate = estimatingBy(bursar, config);
  return ({ program, ...wish }, by) => estimate({ ...wish, program: programOf(program, equipment) }, by);
}

function programOf(program: string | WantedProgram, equipment: Equipment): Program {
  const bare = typeof program === "string" ? named(program, equipment) : broughtProgram(program, equipment);
  return needing(bare, needsFrom(equipment, bare));
}

function named(name: string, { programs }: Equipment): Program {
  const found = programs.find((program) => program.name === name);
  if (found !== undefined) return found;
  const names = programs.map((program) => program.name).join(", ") || "none";
  throw new InputError("program", `${name} is not offered here; there is ${names}`);
}
