import type { Box, QuickjsExports } from "./exports.js";

type Test = { [Name in keyof QuickjsExports]: Name extends `qjs_is_${string}` ? Name : never }[keyof QuickjsExports];

/** In the order of asking: a proxy is a proxy, whatever it stands for. */
const KINDS: readonly (readonly [kind: string, test: Exclude<Test, "qjs_is_job_pending">])[] = [
  ["proxy", "qjs_is_proxy"],
  ["function", "qjs_is_function"],
  ["array", "qjs_is_array"],
  ["error", "qjs_is_error"],
  ["promise", "qjs_is_promise"],
  ["map", "qjs_is_map"],
  ["set", "qjs_is_set"],
  ["date", "qjs_is_date"],
  ["regexp", "qjs_is_regexp"],
  ["weakref", "qjs_is_weak_ref"],
  ["weakmap", "qjs_is_weak_map"],
  ["weakset", "qjs_is_weak_set"],
  ["dataview", "qjs_is_data_view"],
  ["arraybuffer", "qjs_is_array_buffer"],
];

/** What an object is by the engine's own mark. */
export function kindOfObject(exports: QuickjsExports, box: Box): string {
  return KINDS.find(([, test]) => exports[test](box) !== 0)?.[0] ?? "object";
}
