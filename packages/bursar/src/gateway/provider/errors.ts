import { BursarError } from "../../core/errors.js";

/** The provider did not answer, or stopped to, for longer than it is given. */
export class UpstreamTimeout extends BursarError {
  override readonly name: string = "UpstreamTimeout";

  constructor(ms: number) {
    super("upstream_timeout", `the provider has said nothing for ${ms} ms`);
  }
}

/** Not a byte of the request was given to a connection. */
export class NotSent extends BursarError {
  override readonly name: string = "NotSent";

  constructor(
    code: "connect_failed" | "connect_timeout" | "invalid_header" | "given_up",
    message: string,
    cause?: unknown,
  ) {
    super(code, message, { cause });
  }
}

/** Whoever asked has hung up, or had no time left, before anything was sent; why is behind it. */
export function givenUp(reason: unknown): NotSent {
  return new NotSent("given_up", "the request was given up before anything was sent", reason);
}

/** What the provider has sent is no answer, or may be read in two ways. */
export class MalformedAnswer extends BursarError {
  override readonly name: string = "MalformedAnswer";

  constructor(what: string) {
    super("malformed_answer", `the provider's answer is malformed: ${what}`);
  }
}

/** The connection is gone, and the answer not whole. */
export class ConnectionLost extends BursarError {
  override readonly name: string = "ConnectionLost";

  constructor(message = "the provider has closed the connection before its answer was whole") {
    super("connection_lost", message);
  }
}
