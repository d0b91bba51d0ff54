import type { WasmMemory } from "@bursar/wasm-fuel";

/** Where the engine keeps a value: the address of a box in the guest's memory that holds one reference to it. */
export type Box = number;

/** Those that take nothing and give a number. */
type Counting = Record<"qjs_is_job_pending" | "qjs_execute_pending_job", () => number>;

/** The functions of `quickjs.wasm` that we use. Every value goes in and out as a box. */
export interface QuickjsExports extends Counting {
  readonly memory: WasmMemory;
  _initialize(): void;
  wasm_malloc(length: number): number;
  wasm_free(address: number): void;
  qjs_init(): number;
  qjs_get_context_ptr(): number;
  qjs_get_runtime_ptr(): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_module_loader(on: number): void;
  qjs_set_promise_rejection_handler(on: number): void;
  qjs_run_gc(): void;
  qjs_eval(code: number, length: number, name: number, flags: number): Box;
  qjs_call(callee: Box, self: Box, count: number, args: number): Box;
  qjs_get_exception(): Box;
  qjs_throw(error: Box): void;
  qjs_new_error(): Box;
  qjs_new_string(address: number, length: number): Box;
  qjs_new_number(value: number): Box;
  qjs_new_uint8_array(address: number, length: number): Box;
  qjs_new_host_function(name: number, length: number, count: number): Box;
  qjs_get_undefined(): Box;
  qjs_get_null(): Box;
  qjs_get_true(): Box;
  qjs_get_false(): Box;
  qjs_get_global(): Box;
  qjs_get_prop_string(target: Box, name: number): Box;
  qjs_define_prop_string(target: Box, name: number, value: Box, flags: number): number;
  qjs_dup_value(value: Box): Box;
  qjs_free_value(value: Box): void;
  qjs_get_value_ptr(value: Box): number;
  qjs_get_string_len(value: Box, length: number): number;
  qjs_free_cstring(address: number): void;
  qjs_get_float64(value: Box): number;
  qjs_get_bool(value: Box): number;
  qjs_get_typed_array_buffer(value: Box, offset: number, length: number, width: number): Box;
  qjs_get_array_buffer(value: Box, length: number): number;
  qjs_get_proxy_target(value: Box): Box;
  qjs_promise_state(value: Box): number;
  qjs_promise_result(value: Box): Box;
  qjs_promise_mark_as_handled(value: Box): void;
  qjs_is_exception(value: Box): number;
  qjs_is_undefined(value: Box): number;
  qjs_is_null(value: Box): number;
  qjs_is_bool(value: Box): number;
  qjs_is_number(value: Box): number;
  qjs_is_string(value: Box): number;
  qjs_is_object(value: Box): number;
  qjs_is_array(value: Box): number;
  qjs_is_function(value: Box): number;
  qjs_is_error(value: Box): number;
  qjs_is_promise(value: Box): number;
  qjs_is_proxy(value: Box): number;
  qjs_is_map(value: Box): number;
  qjs_is_set(value: Box): number;
  qjs_is_date(value: Box): number;
  qjs_is_regexp(value: Box): number;
  qjs_is_weak_ref(value: Box): number;
  qjs_is_weak_map(value: Box): number;
  qjs_is_weak_set(value: Box): number;
  qjs_is_data_view(value: Box): number;
  qjs_is_array_buffer(value: Box): number;
  JS_SetUncatchableError(context: number, value: bigint): void;
  JS_ThrowOutOfMemory(context: number): bigint;
}
