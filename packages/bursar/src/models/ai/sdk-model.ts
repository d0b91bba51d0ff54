/**
 * What is used of the AI SDK's models, in all versions of its specification at once. Nothing of the SDK is imported: whoever has
 * it installed brings his own, and the fields below are the ones that have stayed the same since version 2.
 */
export interface SdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

/** A model that writes. */
export interface SdkLanguageModel extends SdkModel {
  doGenerate(options: SdkCallOptions): PromiseLike<SdkGenerated>;
  doStream(options: SdkCallOptions): PromiseLike<SdkStreamed>;
}

/** A model that makes vectors of texts. */
export interface SdkEmbeddingModel extends SdkModel {
  doEmbed(options: SdkEmbedOptions): PromiseLike<SdkEmbedded>;
}

/** What providers are told by name, each under its own. */
export type SdkProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** A call as a provider gets it. What is not named here passes through untouched. */
export interface SdkCallOptions {
  readonly prompt: readonly SdkMessage[];
  readonly maxOutputTokens?: number | undefined;
  readonly tools?: readonly SdkTool[] | undefined;
  readonly toolChoice?: unknown;
  readonly responseFormat?: unknown;
  /** How much it is to think, in version 4. */
  readonly reasoning?: string | undefined;
  readonly providerOptions?: SdkProviderOptions | undefined;
  /** Headers of this call alone. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

export interface SdkMessage {
  readonly role: string;
  readonly content: string | readonly SdkPart[];
  readonly providerOptions?: SdkProviderOptions | undefined;
}

/** A part of a message, or of a tool's result: what is in it depends on its type. */
export interface SdkPart {
  readonly type: string;
  /** What a part of a provider's own is. */
  readonly kind?: unknown;
  readonly text?: unknown;
  readonly data?: unknown;
  readonly url?: unknown;
  readonly mediaType?: unknown;
  readonly output?: unknown;
  readonly value?: unknown;
  readonly providerOptions?: SdkProviderOptions | undefined;
}

export interface SdkTool {
  readonly type: string;
  /** `openai.web_search` and the like, for tools that a provider brings. */
  readonly id?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly providerOptions?: SdkProviderOptions | undefined;
}

export interface SdkGenerated {
  readonly content?: readonly { readonly type: string; readonly providerMetadata?: unknown }[];
  readonly usage?: unknown;
  readonly providerMetadata?: unknown;
  readonly response?: unknown;
}

export interface SdkStreamed {
  readonly response?: unknown;
  readonly stream: ReadableStream<SdkStreamPart>;
}

export interface SdkStreamPart {
  readonly type: string;
  readonly kind?: unknown;
  readonly id?: string;
  readonly delta?: unknown;
  /** The model, in the part that tells of the response. */
  readonly modelId?: unknown;
  readonly usage?: unknown;
  readonly providerMetadata?: unknown;
}

export interface SdkEmbedOptions {
  readonly values: readonly unknown[];
  readonly providerOptions?: SdkProviderOptions | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

export interface SdkEmbedded {
  readonly response?: unknown;
  readonly providerMetadata?: unknown;
  readonly usage?: { readonly tokens?: unknown } | undefined;
}
