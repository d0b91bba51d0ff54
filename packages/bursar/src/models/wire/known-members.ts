import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { isObject } from "./json-object.js";
import { checkCase, meantBy, otherCase } from "./member-names.js";
import type { ProtocolName, RequestFacts } from "./protocol.js";
import { isSaid } from "./request-fields.js";
import { howToAllow } from "./routing.js";
import { UnboundedError } from "./unbounded-error.js";

/** No member is allowed beyond the known ones. */
export const NONE_ALLOWED: ReadonlySet<string> = new Set();

/** How an answer is sampled and written down, at any server. None of them changes the model or adds input. */
const SAMPLING = [
  "temperature",
  "top_p",
  "top_k",
  "top_a",
  "min_p",
  "typical_p",
  "tfs_z",
  "seed",
  "random_seed",
  "do_sample",
  "frequency_penalty",
  "presence_penalty",
  "repetition_penalty",
  "repeat_penalty",
  "repeat_last_n",
  "length_penalty",
  "no_repeat_ngram_size",
  "mirostat",
  "mirostat_tau",
  "mirostat_eta",
  "min_tokens",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "prompt_logprobs",
  "stop",
  "stop_token_ids",
  "ignore_eos",
  "skip_special_tokens",
  "spaces_between_special_tokens",
  "include_stop_str_in_output",
  "echo",
  "suffix",
  "add_generation_prompt",
  "continue_final_message",
  "truncate_prompt_tokens",
  "chat_template_kwargs",
  "guided_json",
  "guided_regex",
  "guided_choice",
  "guided_grammar",
  "guided_decoding_backend",
  "structured_outputs",
  "grammar",
  "regex",
  "ebnf",
  "json_schema",
  "response_format",
  "prompt_mode",
  "safe_prompt",
  "keep_alive",
  "cache_prompt",
  "priority",
  "return_token_ids",
  "return_tokens_as_token_ids",
  "add_special_tokens",
  "allowed_token_ids",
  "bad_words",
  "cache_salt",
  "guided_whitespace_pattern",
  "ttl",
  "separate_reasoning",
  "stream_reasoning",
  "mirostat_target",
  "raw_output",
  "perf_metrics_in_response",
  "xtc_probability",
  "xtc_threshold",
  "dry_multiplier",
  "dry_base",
  "dry_allowed_length",
  "dry_penalty_last_n",
  "dynatemp_range",
  "dynatemp_exponent",
  "samplers",
  "n_probs",
  "penalize_nl",
  "id_slot",
];

/** How much is thought, at any server: all of it is output, and the limit of output holds it. */
const THINKING = [
  "reasoning",
  "reasoning_effort",
  "reasoning_format",
  "reasoning_split",
  "include_reasoning",
  "thinking",
  "enable_thinking",
  "thinking_budget",
  "preserve_thinking",
  "think",
  "verbosity",
  "disable_reasoning",
];

/** Who asks, and what is kept about it. */
const ABOUT = ["user", "user_id", "session_id", "request_id", "safety_identifier", "metadata", "store", "moderation"];

/** What OpenAI's protocols share. */
const OPENAI = [
  "model",
  "stream",
  "stream_options",
  "service_tier",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "cache_control",
  "usage",
  "extra_body",
  ...SAMPLING,
  ...THINKING,
  ...ABOUT,
];

const CHAT = [
  "messages",
  "max_tokens",
  "max_completion_tokens",
  "n",
  "best_of",
  "functions",
  "function_call",
  "modalities",
  "audio",
  "tool_stream",
  ...OPENAI,
];

const RESPONSES = [
  "input",
  "instructions",
  "max_output_tokens",
  "max_tool_calls",
  "previous_response_id",
  "conversation",
  "background",
  "context_management",
  "prompt",
  "include",
  "text",
  "truncation",
  "client_metadata",
  ...OPENAI,
];

const EMBEDDINGS = [
  "model",
  "input",
  "dimensions",
  "encoding_format",
  "input_type",
  "output_dtype",
  "output_dimension",
  "truncate",
  "truncation",
  "truncate_prompt_tokens",
  "task",
  "prompt_name",
  "normalize",
  "embedding_types",
  "service_tier",
  ...ABOUT,
];

const MESSAGES = [
  "model",
  "messages",
  "max_tokens",
  "system",
  "stream",
  "stop_sequences",
  "tools",
  "tool_choice",
  "thinking",
  "temperature",
  "top_p",
  "top_k",
  "metadata",
  "cache_control",
  "container",
  "context_management",
  "speed",
  "service_tier",
  "inference_geo",
  "output_config",
  "output_format",
  "effort",
  "thread",
  "diagnostics",
  "user_profile_id",
  "workspace_id",
  "anthropic_version",
  "anthropic_beta",
];

/** The members at the top of a body that a protocol's reader knows. Each is bounded by the reader or bounded by its bytes. */
const KNOWN_MEMBERS: Readonly<Record<ProtocolName, ReadonlySet<string>>> = {
  "openai-chat": new Set(CHAT),
  "openai-responses": new Set(RESPONSES),
  "openai-embeddings": new Set(EMBEDDINGS),
  "anthropic-messages": new Set(MESSAGES),
};

/** Members that let the server choose another model, another price or another place. */
const ROUTING: ReadonlySet<string> = new Set([
  "models",
  "fallbacks",
  "fallback_models",
  "mock_testing_fallbacks",
  "context_window_fallback_dict",
  "route",
  "provider",
  "providerOptions",
  "provider_options",
  "preset",
  "model_list",
  "api_base",
  "base_url",
  "custom_llm_provider",
  "deployment_id",
  "engine",
  "config",
  "strategy",
  "targets",
  "router_settings",
  "override_params",
  "tags",
]);

/** Members that bring input from elsewhere. Where they are allowed, the model's context window bounds what comes in. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "data_sources",
  "dataSources",
  "cached_content",
  "cachedContent",
  "transforms",
  "documents",
  "file_ids",
  "knowledge",
  "context_id",
  "prompt_id",
  "prompt_variables",
  "retrieval",
  "thread_id",
]);

/** Members that readers refuse with reasons of their own. */
const SURCHARGED: ReadonlySet<string> = new Set([
  "web_search_options",
  "search_parameters",
  "enable_search",
  "plugins",
  "prediction",
  "mcp_servers",
  "compaction",
]);

const ROUTES = "lets the server choose another model or another price";
const BRINGS = "brings input that the request does not show";
const UNKNOWN = "is no member that is known to keep the cost within its bound";

/**
 * Checks the members at the top of a body. A member that is not known is refused, because servers have many that choose another
 * model or bring input. `unknown` is told of allowed members that bring input.
 */
export function checkMembers(
  body: JsonObject,
  protocol: ProtocolName,
  { allow = NONE_ALLOWED, drawn = false }: Pick<RequestFacts, "allow" | "drawn">,
  unknown: (what: string) => void,
): void {
  const known = KNOWN_MEMBERS[protocol];
  for (const name in body) {
    const value = body[name] as Json;
    if (known.has(name)) {
      checkWithin(name, value, allow, unknown);
      continue;
    }
    const meant =
      meantBy(name, known) ?? meantBy(name, ROUTING) ?? meantBy(name, ELSEWHERE) ?? meantBy(name, SURCHARGED);
    if (meant !== null) throw otherCase(name, meant);
    // What an SDK says of a call has names of its own beside those of the wire.
    if (isSaid(value) && (!drawn || isNamed(name))) checkUnknown(name, name, value, allow, unknown);
  }
}

/** What stands in a known member. */
function checkWithin(name: string, value: Json, allow: ReadonlySet<string>, unknown: (what: string) => void): void {
  if (name === "extra_body") checkExtra(value, allow, unknown);
  else if (name === "metadata") checkMetadata(value, allow, unknown);
  else if (isObject(value) && !FREE_FORM.has(name)) checkCase(value, name);
  if (name === "reasoning") checkReasoning(value, allow, unknown);
}

/** Whether a reader of the protocol knows a member, be it as one to refuse. */
export function isReadMember(protocol: ProtocolName, name: string): boolean {
  return KNOWN_MEMBERS[protocol].has(name) || isNamed(name) || SURCHARGED.has(name);
}

function isNamed(name: string): boolean {
  return ROUTING.has(name) || ELSEWHERE.has(name);
}

function checkUnknown(
  name: string,
  path: string,
  value: Json,
  allow: ReadonlySet<string>,
  unknown: (what: string) => void,
): void {
  if (ELSEWHERE.has(name) && allow.has(path)) unknown(path);
  if (allow.has(path) || isIdle(value)) return;
  const why = ROUTING.has(name) ? ROUTES : ELSEWHERE.has(name) ? BRINGS : UNKNOWN;
  throw new UnboundedError(path, `${why}; ${howToAllow(path)}`);
}

/** Said as false or as an empty list, what changes the price changes nothing. */
function isIdle(value: Json): boolean {
  return value === false || (Array.isArray(value) && value.length === 0);
}

/** What Gemini's own fields are written into, each with its path. */
const KNOWN_EXTRA: ReadonlySet<string> = new Set([
  "extra_body.google.thinking_config",
  "extra_body.google.thought_tag_marker",
]);

function checkExtra(extra: Json, allow: ReadonlySet<string>, unknown: (what: string) => void): void {
  if (!isSaid(extra) || allow.has("extra_body")) return;
  if (!isObject(extra)) throw new InputError("extra_body", "is no object");
  for (const [maker, fields] of Object.entries(extra)) {
    const whole = `extra_body.${maker}`;
    const within = isObject(fields) ? Object.entries(fields) : [];
    if (within.length === 0 && isSaid(fields)) checkUnknown(maker, whole, fields, allow, unknown);
    for (const [name, value] of within) {
      const path = `${whole}.${name}`;
      if (isSaid(value) && !KNOWN_EXTRA.has(path)) checkUnknown(name, path, value, allow, unknown);
    }
  }
}

/** LiteLLM chooses among the deployments of a model by a list of tags. Where tags are a text, as at OpenAI, they are a note. */
function checkMetadata(metadata: Json, allow: ReadonlySet<string>, unknown: (what: string) => void): void {
  const tags = isObject(metadata) ? metadata.tags : null;
  if (Array.isArray(tags)) checkUnknown("tags", "metadata.tags", tags, allow, unknown);
}

/** OpenAI's pro mode adds up the tokens of several rounds of the model, and OpenRouter sends the request to another model for it. */
function checkReasoning(reasoning: Json, allow: ReadonlySet<string>, unknown: (what: string) => void): void {
  const mode = isObject(reasoning) ? reasoning.mode : null;
  if (!isSaid(mode) || mode === "standard") return;
  const path = "reasoning.mode";
  if (allow.has(path)) {
    unknown(path);
    return;
  }
  const why = "takes several rounds of the model or another one, which no limit of output bounds together";
  throw new UnboundedError(path, `is ${show(mode)}, which ${why}; ${howToAllow(path)}`);
}

/** Members whose own members the caller names. */
const FREE_FORM: ReadonlySet<string> = new Set([
  "metadata",
  "client_metadata",
  "logit_bias",
  "chat_template_kwargs",
  "guided_json",
  "json_schema",
  "grammar",
  "structured_outputs",
  "usage",
  "options",
]);
