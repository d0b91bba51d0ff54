import { cpus, loadavg } from "node:os";

/** What a bench was run on, and how busy that was. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly load: readonly number[];
}

export function lookAtMachine(): Machine {
  const all = cpus();
  return {
    cpu: all[0]?.model ?? "unknown cpu",
    cores: all.length,
    node: process.versions.node,
    load: loadavg().map((value) => Number(value.toFixed(2))),
  };
}
