import { BursarError } from "../core/errors.js";

/** The provider did not begin to answer, or stopped in the middle, for longer than it is given. */
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

/** The provider has sent something that is not an HTTP response, or that can be read in two ways. */
export class MalformedResponse extends BursarError {
  override readonly name: string = "MalformedResponse";

  constructor(cause: unknown) {
    super("malformed_answer", "the provider's answer is no HTTP/1.1, or can be read in two ways", { cause });
  }
}

/** The connection is gone, and the response not whole. */
export class ConnectionLost extends BursarError {
  override readonly name: string = "ConnectionLost";

  constructor(message = "the provider has closed the connection before its answer was whole", cause?: unknown) {
    super("connection_lost", message, { cause });
  }
}
