import { type Siting, takeSiting } from "../reservations/siting.js";
import { NO_WISH, takeWish, type Wish } from "../tiers/wish.js";

/** What headers say to us alone, and what is sent on of them. */
interface OwnHeaders {
  readonly siting: Siting;
  readonly wish: Wish;
  readonly headers: Headers;
}

/** The body is written anew, and may have another length then. */
const LENGTH = "content-length";
const OWN = /^(?:content-length$|x-bursar-)/;

/**
 * Takes out of the headers of a request what is not for the provider. What is sent is a copy: the call may wait for its turn, and
 * whoever made it may use the same object for the next one meanwhile, with another key in it. To make it here also finds those that
 * are no headers before anything is paid for.
 */
export function takeOwn(given: RequestInit["headers"] = {}): OwnHeaders {
  const headers = new Headers(given);
  let isOurs = false;
  for (const name of headers.keys()) isOurs ||= OWN.test(name);
  // Mostly there is nothing.
  if (!isOurs) return { siting: {}, wish: NO_WISH, headers };
  headers.delete(LENGTH);
  return { siting: takeSiting(headers), wish: takeWish(headers), headers };
}
