/** What a client has sent is no request, or may be read in two ways. */
export class MalformedRequest extends Error {
  override readonly name: string = "MalformedRequest";
  readonly status: number;

  constructor(what: string, status = 400) {
    super(what);
    this.status = status;
  }
}

export function malformed(what: string): MalformedRequest {
  return new MalformedRequest(what);
}
