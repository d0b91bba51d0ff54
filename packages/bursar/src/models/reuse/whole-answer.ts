/** An answer in one piece. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

/** Their names are in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** They tell of one moment, or of the connection of whoever asked first. */
const OF_THE_MOMENT = /^(?:date|age|retry-after|set-cookie|cf-ray|(?:x|anthropic)-ratelimit-.*|x-bursar-.*)$/;

/** The headers of an answer that go to somebody else than the one it was given to. */
export function passedOn(headers: AnswerHeaders): AnswerHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_MOMENT.test(name)));
}
