import { InputError, show } from "../../core/errors.js";
import type { TierListOptions } from "../../ports/tiers.js";
import type { MeteredRequest } from "../meter/meter.js";
import type { OpenModel } from "../meter/open-model.js";
import { readWish } from "../tiers/wish.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import { type GovernOptions, over, readGoverning } from "./govern.js";
import type { Governing } from "./governed-calls.js";
import { GovernedLanguage, type Speakers, type Speaking } from "./governed-model.js";
import type { SdkCallOptions, SdkLanguageModel, SdkPart } from "./sdk-model.js";
import { type CallSketch, type SketchBasis, sketchCall } from "./sketch.js";

/** What a list of tiers says beside its models. Where `tiers` are given, one of their lists is meant instead. */
export interface TieredOptions extends GovernOptions, Pick<TierListOptions, "floor" | "when_none_fits" | "hysteresis"> {
  /** What the list is called in the chain, or which of `tiers` is meant: `auto`. */
  readonly list?: string;
}

/**
 * One model of the AI SDK in place of several: each call goes to the best that fits what is left of its budget. The models are named
 * and stand in order, the best first. A call names one, says what it needs, or is one of several that stay together, by
 * `providerOptions`: `{ bursar: { tier: "large", needs: ["tools"], step: "chapter 3" } }`.
 *
 * @example
 * ```ts
 * const model = tiered({ large: openai("gpt-5"), small: openai("gpt-5-mini") });
 * const { text } = await withBudget({ cost_usd: 0.5 }, () => generateText({ model, prompt: "Hello" }));
 * ```
 */
export function tiered<Model extends SdkLanguageModel>(
  models: Readonly<Record<string, Model>>,
  options: TieredOptions = {},
): Model {
  const { list = "auto", floor, when_none_fits, hysteresis, ...rest } = options;
  const named = Object.entries(models ?? {});
  for (const [name, model] of named) {
    if (typeof model?.doGenerate === "function" && typeof model.doStream === "function") continue;
    throw new InputError(`models.${name}`, `is ${show(model)}; allowed: a language model of the AI SDK`);
  }
  const own: TierListOptions = {
    tiers: named.map(([name, { modelId }]) => ({ name, model: modelId })),
    ...(floor !== undefined && { floor }),
    ...(when_none_fits !== undefined && { when_none_fits }),
    ...(hysteresis !== undefined && { hysteresis }),
  };
  const tiers = rest.tiers ?? { lists: { [list]: own } };
  for (const { name } of tiers.lists[list]?.tiers ?? []) {
    if (models[name] === undefined) throw new InputError("models", `have none for the tier ${show(name)} of ${list}`);
  }
  const [first] = tiers.lists[list]?.tiers ?? [];
  const model = models[first?.name ?? ""];
  if (model === undefined) throw new InputError("models", "are none; allowed: one or more, by their names");
  const how = readGoverning({ ...rest, tiers });
  const speakers = new TierSpeakers(model, new Map(named), `bursar/${list}`, how);
  return over(model, new GovernedLanguage(speakers, how));
}

/** Several models, of which the meter chooses one for each call. */
class TierSpeakers implements Speakers {
  readonly first: SdkLanguageModel;
  private readonly models: ReadonlyMap<string, SdkLanguageModel>;
  private readonly name: string;
  private readonly how: Governing;

  constructor(first: SdkLanguageModel, models: ReadonlyMap<string, SdkLanguageModel>, name: string, how: Governing) {
    this.first = first;
    this.models = models;
    this.name = name;
    this.how = how;
  }

  draw(given: SdkCallOptions, stream: boolean) {
    const { bursar, ...providerOptions } = given.providerOptions ?? {};
    const options = bursar === undefined ? given : { ...given, providerOptions };
    const wish = readWish(bursar, "providerOptions.bursar");
    const { meter, output_tokens } = this.how;
    const { deployments } = meter;
    const about: SketchBasis = { stream, output_tokens, deployments, allowedAt: (url) => meter.allowedAt(url) };
    const drawn = new Map<string, CallSketch>();
    const as = (tier: { readonly name: string }): MeteredRequest | null => {
      const sketch = this.sketched(tier.name, options, about);
      if (sketch === null) return null;
      drawn.set(tier.name, sketch);
      const { protocol, wire, url } = sketch;
      return { protocol, wire, url, egress_bytes: 0 };
    };
    const { protocol, wire } = sketchCall(this.first, options, about);
    const open: OpenModel = { model: this.name, ...wish, shown: needsOfCall(options), as };
    const by = ({ chosen }: MeteredRequest): Speaking => {
      const name = chosen?.tier ?? "";
      const [model, sketch] = [this.models.get(name), drawn.get(name)];
      if (model === undefined || sketch === undefined) throw new TypeError(`no model was drawn for ${name}`);
      return { model, sketch };
    };
    return { sketch: { protocol, wire: { ...wire, model: this.name }, url: null, open }, by };
  }

  private sketched(name: string, options: SdkCallOptions, about: SketchBasis): CallSketch | null {
    const model = this.models.get(name);
    try {
      return model === undefined ? null : sketchCall(model, options, about);
    } catch (error) {
      if (error instanceof UnboundedError) return null;
      throw error;
    }
  }
}

/** What a call needs of a model. */
function needsOfCall({ tools = [], responseFormat, prompt }: SdkCallOptions): ReadonlySet<string> {
  const needs = new Set<string>();
  if (tools.length > 0) needs.add("tools");
  if ((responseFormat as { readonly type?: unknown } | undefined)?.type === "json") needs.add("structured_output");
  for (const { content } of prompt) {
    for (const part of typeof content === "string" ? [] : content) noteFile(part, needs);
  }
  return needs;
}

function noteFile({ type, mediaType }: SdkPart, needs: Set<string>): void {
  if (type !== "file" && type !== "image") return;
  const kind = typeof mediaType === "string" ? mediaType : "";
  needs.add(type === "image" || kind.startsWith("image/") ? "images" : kind.startsWith("audio/") ? "audio" : "files");
}
