import type { MeteredRequest } from "../meter/meter.js";

/** The same request for somebody who sends nothing: it asks for a step, and costs nothing. */
export function stepOnly(request: MeteredRequest): MeteredRequest {
  const { protocol, model } = request.wire;
  return {
    ...request,
    egress_bytes: 0,
    wire: {
      protocol,
      model,
      stream: false,
      input_tokens: 0,
      beyond: null,
      texts: null,
      output_tokens: 0,
      answers: 1,
      least_output: 0,
      caches: "no",
      audio: false,
      hidden: false,
      body: {},
      held: () => ({}),
    },
  };
}
