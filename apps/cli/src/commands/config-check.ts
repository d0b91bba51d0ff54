import { ConfigError, type Configuration, findConfig, loadConfig, type Problem, printProblem } from "bursar/config";
import { configReport } from "../app/config-report.js";
import { CommandError } from "../app/errors.js";
import { counted } from "../render/quantities.js";
import { harmless, type Style } from "../render/style.js";
import { filesInForce, ignoredLines } from "./common/config-notice.js";
import { COMMON_HELP, type ConfigChore, type ConfigCommand, checkStore, type Done } from "./config-work.js";

export const check: ConfigCommand = {
  help: `Usage: bursar config check [file] [flags]

Looks for mistakes in a configuration and tells all of them, each with its
line, its column, and what was most likely meant.

Flags:
${COMMON_HELP}

Exit codes: 0 it can be used, 1 it cannot, or there is none, 2 not understood

Examples:
  bursar config check
  bursar config check deploy/bursar.yaml --json | jq '.problems[].message'
`,
  takesFile: true,
  run({ file, flags, terminal, style }: ConfigChore): Done {
    if (file !== undefined && flags.config !== undefined && file !== flags.config) {
      throw new CommandError("two files are named; check one at a time");
    }
    const { env } = terminal;
    if (findConfig(file, { env }) === null) {
      throw new CommandError("there is no configuration here, so the defaults count; bursar config init writes one");
    }
    try {
      const { config } = loadConfig(file, { env, checkStore });
      return sound(config, style);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return wrong(error.problems, style);
    }
  },
};

function sound(config: Configuration, style: Style): Done {
  const policies = [...config.policies.values()].filter(({ origin }) => origin.kind === "policy");
  const names = {
    policies: policies.map(({ name }) => name),
    agents: [...config.agents.keys()],
    sessions: [...config.sessions.keys()],
  };
  const counts = [
    counted(names.policies.length, "policy", "policies"),
    counted(names.agents.length, "agent"),
    counted(names.sessions.length, "session"),
  ];
  const title = `${style.good("✓")} ${filesInForce(config)} can be used: ${counts.join(", ")}\n`;
  const notes = config.notes.map((note) => `${style.warn("note")} ${printProblem(note)}\n`);
  const rows = Object.entries(names).map(([what, each]) => row(what, each));
  const standard = row("default", [config.defaultPolicy.value]);
  const warnings = ignoredLines(config, Number.POSITIVE_INFINITY).map((line) => `${style.warn("warning")} ${line}\n`);
  const report = { ok: true, ...configReport(config), default_policy: config.defaultPolicy.value, ...names };
  return {
    report: { ...report, notes: config.notes },
    text: `${title}${rows.join("")}${standard}${notes.join("")}${warnings.join("")}`,
  };
}

const MOST_NAMED = 8;

function row(what: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MOST_NAMED ? `, and ${names.length - MOST_NAMED} more` : "";
  return `  ${what.padEnd(10)}${names.slice(0, MOST_NAMED).map(harmless).join(", ")}${more}\n`;
}

function wrong(problems: readonly Problem[], style: Style): Done {
  const told = problems.map((problem) => `${printProblem(problem)}\n`).join("");
  const title = style.bad(counted(problems.length, "problem"));
  return { report: { ok: false, problems }, text: `${told}\n${title}\n`, code: 1 };
}
