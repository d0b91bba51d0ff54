import { type Language, openSandbox, type Sandbox, type SandboxOptions } from "@bursar/sandbox";
import type { GuestFuel, ImportFigure } from "@bursar/sandbox/guests";
import { addPackages, compilePackages, GuestCompiler } from "@bursar/sandbox/packages";
import { COSTS } from "../../../packages/wasm-fuel/dist/rewriter/costs.js";
import { IMPORTS, PIECES } from "./figure-pieces.js";

const PLENTY = 1_000_000_000_000;
const TIMEOUT_MS = 10 * 60_000;
/** After an import the interpreter has something to tidy up, which the next executions pay for. */
const SETTLING = 3;

/** Where packages and derived files are, and which guest it is. */
export type Places = Required<Pick<SandboxOptions, "cacheFolder" | "packagesFolder" | "guest">>;

/** All figures of a guest but its start. There is no time in them: whoever measures gets the same ones. */
export async function measureGuest(language: Language, places: Places): Promise<Omit<GuestFuel, "start">> {
  if (language === "python") await fetchPackages(places);
  await using sandbox = await openSandbox({ ...places, workers: 1 });
  const fuel = async (code: string, packages: readonly string[] = []) => {
    const session = await sandbox.createSession({ ...options(language), packages, autoPath: true });
    const consumed = await consumedBy(session, code);
    await session.destroy();
    return consumed;
  };
  const work: GuestFuel["work"][number][] = [];
  for (const piece of PIECES[language]) {
    const { before = "", code, packages } = piece;
    work.push({ ...piece, fuel: (await fuel(`${before}\n${code}`, packages)) - (await fuel(before, packages)) });
  }
  const imports = language === "python" ? await importsOf(sandbox, places) : [];
  return { costs: COSTS.version, empty: await fuel(""), work, imports };
}

/** The same packages beside them, as they were fetched. */
function plainFolder({ packagesFolder }: Places): string {
  return `${packagesFolder}-plain`;
}

async function fetchPackages(places: Places): Promise<void> {
  const names = Object.keys(IMPORTS);
  for (const folder of [places.packagesFolder, plainFolder(places)]) {
    await addPackages(names, { folder, source: "debian" });
  }
  await using compiler = new GuestCompiler({ sandbox: places });
  await compilePackages(places.packagesFolder, names, compiler.compile, await compiler.tag());
}

async function importsOf(sandbox: Sandbox, places: Places): Promise<readonly ImportFigure[]> {
  await using plain = await openSandbox({ ...places, packagesFolder: plainFolder(places), workers: 1 });
  const measured: ImportFigure[] = [];
  for (const [name, statements] of Object.entries(IMPORTS)) {
    for (const code of statements) {
      const { first, cached } = await importFuel(sandbox, name, code);
      const { first: uncompiled } = await importFuel(plain, name, code);
      measured.push({ package: name, code, first, uncompiled, cached });
    }
  }
  return measured;
}

/** Twice in one session, each without what an empty program costs there at that moment. */
async function importFuel(
  sandbox: Sandbox,
  name: string,
  statement: string,
): Promise<Pick<ImportFigure, "first" | "cached">> {
  const session = await sandbox.createSession({
    ...options("python"),
    packages: [name],
    autoPath: true,
    autoPersistGlobals: true,
  });
  const before = await consumedBy(session, "");
  const first = await consumedBy(session, statement);
  for (let turn = 0; turn < SETTLING; turn++) await consumedBy(session, "");
  const after = await consumedBy(session, "");
  const cached = await consumedBy(session, statement);
  await session.destroy();
  if (first <= before || cached <= after) throw new Error(`${statement} cost less than nothing; measure it otherwise`);
  return { first: first - before, cached: cached - after };
}

function options(language: Language) {
  return { language, fuelBudget: PLENTY, timeout: TIMEOUT_MS, deterministic: true } as const;
}

async function consumedBy(session: Awaited<ReturnType<Sandbox["createSession"]>>, code: string): Promise<number> {
  const { success, stderr, metadata, fuel_consumed } = await session.execute(code);
  if (!success) throw new Error(`${JSON.stringify(code.slice(0, 80))} failed: ${metadata.trap_message ?? stderr}`);
  return fuel_consumed;
}
