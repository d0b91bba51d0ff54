import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SANDBOX = fileURLToPath(new URL("../../packages/sandbox/", import.meta.url));
/** Below the packages that it needs. */
const PLACE = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));

/** In both guests programs can see of it, and the memory of every guest looks otherwise. */
const PYTHON_CHANGE = `
import builtins
builtins.is_next_build = True
builtins.next_build = [str(number) * 20 for number in range(5000)]
`;
const JAVASCRIPT_CHANGE = `
Object.defineProperty(globalThis, "isNextBuild", { value: true });
Object.defineProperty(globalThis, "nextBuild", { value: Array.from({ length: 5000 }, (_, number) => \`next \${number}\`) });
`;

/** The sandbox as a later version may have it: a copy of the package whose guests have other boot code. */
export async function openNextBuild(options: {
  readonly keyFile: string;
  readonly cacheFolder: string;
}): Promise<import("@bursar/sandbox").Sandbox & AsyncDisposable> {
  const folder = mkdtempSync(`${PLACE}bursar-next-build-`);
  for (const part of ["dist", "guest/python", "guest/javascript", "package.json"]) {
    cpSync(`${SANDBOX}${part}`, `${folder}/${part}`, { recursive: true });
  }
  // Before the boot code leaves the interpreter to the programs.
  const boot = `${folder}/guest/python/boot.py`;
  writeFileSync(boot, `${PYTHON_CHANGE}${readFileSync(boot, "utf8")}`);
  appendFileSync(`${folder}/guest/javascript/boot.js`, JAVASCRIPT_CHANGE);
  const { openSandbox } = (await import(`${folder}/dist/index.js`)) as typeof import("@bursar/sandbox");
  const sandbox = await openSandbox({ workers: 1, guest: "npm", ...options });
  const end = sandbox[Symbol.asyncDispose].bind(sandbox);
  return Object.assign(sandbox, {
    [Symbol.asyncDispose]: async () => {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}
