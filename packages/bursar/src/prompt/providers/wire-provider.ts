import { InputError } from "../../core/errors.js";
import { readMetered } from "../../models/meter/metered-request.js";
import { NO_DEPLOYMENTS } from "../../models/wire/deployments.js";
import type { WireRequest } from "../../models/wire/protocol.js";
import { type Provider, ProviderError, type ProviderRequest, type ProviderResponse, type Quote } from "../provider.js";
import { NO_TOKENS } from "../tokens.js";
import type { Answer, Conversation, Turn } from "./dialect.js";
import type { ModelSettings } from "./model-options.js";
import type { Received, Receiver } from "./receiver.js";
import { Sender } from "./sender.js";
import { StreamReceiver } from "./stream-receiver.js";
import { WholeReceiver } from "./whole-receiver.js";

const SAMPLE: Conversation = { messages: [{ role: "user", content: "?" }], tools: [], turns: new Map() };

/** A model behind one of the protocols. Each request is one attempt; what fails is not sent again. */
export class WireProvider implements Provider {
  private readonly settings: ModelSettings;
  private readonly sender: Sender;
  private readonly turns: WeakMap<object, Map<number, Turn>> = new WeakMap();

  constructor(settings: ModelSettings) {
    this.settings = settings;
    this.sender = new Sender(settings);
    this.tryOut();
  }

  quote(request: ProviderRequest): Quote {
    const { input_tokens, least_output } = this.drafted(this.conversationOf(request));
    return { input: input_tokens, output: this.settings.maxOutputTokens, leastOutput: least_output };
  }

  async complete(request: ProviderRequest): Promise<ProviderResponse> {
    const wire = this.drafted(this.conversationOf(request));
    const { maxOutputTokens, signal } = request;
    const most = Math.min(maxOutputTokens ?? Number.POSITIVE_INFINITY, this.settings.maxOutputTokens);
    if (most < wire.least_output) {
      const message = `the request may have ${most} tokens of output, and the provider takes ${wire.least_output} or more`;
      throw new ProviderError(message, { usage: NO_TOKENS });
    }
    const receiver = this.receiverFor(wire, most);
    const received = await this.sender.send(JSON.stringify(wire.held(most)), receiver, signal);
    const answer = this.read(received);
    this.remember(request, answer.turn);
    const { text, toolCalls, ending } = answer;
    return { text, toolCalls, ending, ...received.report };
  }

  private receiverFor(wire: WireRequest, most: number): Receiver {
    const { dialect, stream } = this.settings;
    return stream
      ? new StreamReceiver(dialect, wire, most, (text) => this.sender.shown(text))
      : new WholeReceiver(dialect.protocol);
  }

  private conversationOf({ messages, tools, evaluation }: ProviderRequest): Conversation {
    return { messages, tools, turns: this.turns.get(evaluation) ?? new Map() };
  }

  private drafted(conversation: Conversation): WireRequest {
    const { dialect, model, parameters, url, stream, headers, allow } = this.settings;
    const written = dialect.write(conversation, { model });
    const body = JSON.stringify({ model, ...parameters, ...written, ...(stream && { stream }) });
    const bytes = Buffer.byteLength(body);
    // Evaluations are limited in tokens. What pays for them in money, such as a governed `fetch`, knows the deployments.
    const about = { bytes, deployments: NO_DEPLOYMENTS, headers: headers.keys(), allow };
    const request = readMetered({ protocol: dialect.protocol, url, body, ...about });
    if ("code" in request) throw new InputError("request", `cannot be sent: ${request.message}`);
    const { wire } = request;
    if (wire.beyond !== null)
      throw new InputError("request", `has ${wire.beyond}, and nobody can tell how large it is`);
    return wire;
  }

  /** Parameters that cannot be sent are better noticed before anything is asked. */
  private tryOut(): void {
    const { maxOutputTokens, parameters } = this.settings;
    const { least_output, held } = this.drafted(SAMPLE);
    if (maxOutputTokens < least_output) {
      throw new InputError("options.maxOutputTokens", `is ${maxOutputTokens}; allowed here: ${least_output} or more`);
    }
    const { thinking } = held(maxOutputTokens);
    if (JSON.stringify(thinking) !== JSON.stringify(parameters.thinking)) {
      throw new InputError("options.maxOutputTokens", `is ${maxOutputTokens}, which thinking alone may take; raise it`);
    }
  }

  private read({ body, said, report }: Received): Answer {
    const answer = body === null ? null : this.settings.dialect.read(body);
    if (answer !== null) return answer;
    throw new ProviderError(`the provider answered with no completion: ${this.sender.shown(said)}`, report);
  }

  /** A turn stands after all that was said before; the messages of an evaluation only grow. */
  private remember({ evaluation, messages }: ProviderRequest, turn: Turn): void {
    const turns = this.turns.get(evaluation) ?? new Map<number, Turn>();
    turns.set(messages.length, turn);
    this.turns.set(evaluation, turns);
  }
}
