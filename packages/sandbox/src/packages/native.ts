import { normalizeName } from "./names.js";

/**
 * Packages whose native part only makes them faster: without it they import their own Python instead. Only packages that
 * catch the ImportError themselves are listed, with the file they do without.
 */
const SPEED_UPS: Readonly<Record<string, RegExp>> = {
  markupsafe: /^markupsafe\/_speedups\./,
  msgpack: /^msgpack\/_cmsgpack\./,
  pyrsistent: /^pvectorc\./,
  pyyaml: /^(?:yaml\/_yaml|_yaml)\./,
  simplejson: /^simplejson\/_speedups\./,
};

const NATIVE_NAME = /\.(?:so(?:\.\d+)*|pyd|dll|dylib|a|o|lib)$/i;
const NATIVE_BEGINNINGS: readonly (readonly number[])[] = [
  [0x7f, 0x45, 0x4c, 0x46],
  [0xcf, 0xfa, 0xed, 0xfe],
  [0xce, 0xfa, 0xed, 0xfe],
];

/** Whether a file is machine code that an import would load: by its name, or by how it begins. */
export function isNative(path: string, bytes: Uint8Array): boolean {
  if (NATIVE_NAME.test(path)) return true;
  return NATIVE_BEGINNINGS.some((beginning) => beginning.every((byte, index) => bytes[index] === byte));
}

/** Whether a native file of a package can be left out. */
export function isSpeedUp(packageName: string, path: string): boolean {
  return speedUpOf(packageName)?.test(path) === true;
}

/** Whether a package is known to work without its native part. */
export function hasOptionalNative(packageName: string): boolean {
  return speedUpOf(packageName) !== undefined;
}

function speedUpOf(packageName: string): RegExp | undefined {
  const name = normalizeName(packageName);
  return Object.hasOwn(SPEED_UPS, name) ? SPEED_UPS[name] : undefined;
}
