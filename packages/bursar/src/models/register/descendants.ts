import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { Script } from "node:vm";
import threads from "node:worker_threads";
import type { Environment } from "./environment.js";

/** What threads and child processes need to find the budget of this process. */
export interface Inheritance {
  /** The URL of the file that registers them. */
  readonly register: string;
  /** Variables that each of them has, whatever else its environment says. */
  readonly variables: Readonly<Record<string, string>>;
}

type Variables = Record<string, string | undefined>;

/**
 * Sees to it that threads and child processes of Node are governed too: with an environment of their own, with flags of their own, and
 * with a code in place of a file. The programs between, such as a shell, hand it on.
 */
export function governDescendants(inheritance: Inheritance, env: NodeJS.ProcessEnv): void {
  Object.assign(env, inheritance.variables);
  env.NODE_OPTIONS = optionsWith(inheritance.register, env.NODE_OPTIONS);
  nameExactly(inheritance.register, process.execArgv);
  governChildren(inheritance);
  governThreads(inheritance);
  syncBuiltinESMExports();
}

/** A bare name is looked up from the folder that a process starts in, which may be another one. */
const BY_NAME = /--import(?:=|\s+)"?bursar\/register"?(?=\s|$)/g;

/** `NODE_OPTIONS` that load the register, beside what they say already. */
function optionsWith(register: string, options = ""): string {
  const flag = `--import=${register}`;
  const exact = options.replace(BY_NAME, flag);
  return exact.split(/\s+/).includes(flag) ? exact : `${exact} ${flag}`.trim();
}

/** `fork` hands the flags of this process on. */
function nameExactly(register: string, flags: string[]): void {
  for (const [index, flag] of flags.entries()) {
    if (flag === "--import=bursar/register") flags[index] = `--import=${register}`;
    if (flag === "bursar/register" && flags[index - 1] === "--import") flags[index] = register;
  }
}

/** An environment that is handed to a child or a thread. Inherited names are taken too, as Node does. */
function inherited({ register, variables }: Inheritance, given: Environment): Variables {
  const env: Variables = {};
  for (const name in given) env[name] = given[name];
  return { ...env, ...variables, NODE_OPTIONS: optionsWith(register, env.NODE_OPTIONS) };
}

interface SpawnOptions {
  envPairs?: string[];
}

function governChildren(inheritance: Inheritance): void {
  // `spawn`, `exec`, `execFile`, `fork` and `cluster` all end here.
  const { prototype } = childProcess.ChildProcess as unknown as {
    readonly prototype: { spawn: (options: SpawnOptions) => unknown };
  };
  const { spawn } = prototype;
  prototype.spawn = function (this: unknown, options: SpawnOptions) {
    if (Array.isArray(options?.envPairs)) options.envPairs = pairsWith(inheritance, options.envPairs);
    return spawn.call(this, options);
  };
  for (const name of ["spawnSync", "execFileSync", "execSync"] as const) {
    const original = childProcess[name] as (...args: unknown[]) => unknown;
    const governed = function (this: unknown, ...args: unknown[]): unknown {
      const at = name === "execSync" || isOptions(args[1]) ? 1 : 2;
      const options = (isOptions(args[at]) ? args[at] : {}) as { readonly env?: Environment };
      const before = Array.from({ length: at }, (_, index) => args[index]);
      return original.call(this, ...before, { ...options, env: inherited(inheritance, options.env ?? process.env) });
    };
    Object.defineProperty(childProcess, name, {
      value: governed,
      writable: true,
      configurable: true,
      enumerable: true,
    });
  }
  governReplacement(inheritance);
}

function isOptions(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function pairsWith(inheritance: Inheritance, pairs: readonly string[]): string[] {
  const env: Variables = {};
  for (const pair of pairs) {
    // On Windows, names may begin with a `=`.
    const at = pair.indexOf("=", 1);
    env[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return Object.entries(inherited(inheritance, env)).map(([name, value]) => `${name}=${value}`);
}

/** Newer versions of Node can put another program in the place of this one. */
function governReplacement(inheritance: Inheritance): void {
  type Execve = (file: string, args?: readonly string[], env?: Environment) => never;
  const world = process as unknown as { execve?: Execve };
  const { execve } = world;
  if (execve === undefined) return;
  world.execve = (file, args = [], env = process.env) => execve(file, args, inherited(inheritance, env));
}

interface ThreadOptions {
  readonly eval?: boolean;
  readonly execArgv?: readonly string[];
  readonly env?: unknown;
}

function governThreads(inheritance: Inheritance): void {
  threads.Worker = new Proxy(threads.Worker, {
    construct(target, [file, given, ...more], newTarget) {
      const options = (given ?? {}) as ThreadOptions;
      const code = options.eval === true && typeof file === "string" ? afterwards(inheritance, file) : file;
      const governed = { ...options, ...flagsOf(inheritance, options), ...environmentOf(inheritance, options) };
      return Reflect.construct(target, [code, governed, ...more], newTarget) as object;
    },
  });
}

function flagsOf({ register }: Inheritance, { execArgv }: ThreadOptions): ThreadOptions {
  return Array.isArray(execArgv) ? { execArgv: [...execArgv, "--import", register] } : {};
}

function environmentOf(inheritance: Inheritance, { env }: ThreadOptions): ThreadOptions {
  // Without one, or with the one that is shared, a thread has ours.
  return isOptions(env) ? { env: inherited(inheritance, env as Environment) } : {};
}

/**
 * The code of a thread, to be run once the thread is registered: Node runs a script at once, and waits for what is imported beforehand
 * only where the code is a module.
 */
function afterwards({ register }: Inheritance, code: string): string {
  const url = JSON.stringify(register);
  if (!isScript(code)) return `import ${url};${code}`;
  const about =
    '{ filename: "[worker eval]", importModuleDynamically: (name, _, attributes) => import(name, { with: attributes }) }';
  const run = `process.nextTick(() => runInThisContext(${JSON.stringify(code)}, ${about}))`;
  return `Promise.all([import("node:vm"), import(${url})]).then(([{ runInThisContext }]) => { ${run}; });`;
}

function isScript(code: string): boolean {
  try {
    new Script(code);
    return true;
  } catch {
    return false;
  }
}
