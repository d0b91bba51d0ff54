import { type Siting, takeSiting } from "../reservations/siting.js";
import { NO_WISH, takeWish, type Wish } from "../tiers/wish.js";

/** What headers say to us alone, and what is sent on of them. */
interface OwnHeaders {
  readonly siting: Siting;
  readonly wish: Wish;
  readonly headers: NonNullable<RequestInit["headers"]>;
}

/** The body is written anew, and may have another length then. */
const LENGTH = "content-length";
const OWN = /^(?:content-length$|x-bursar-)/i;

/**
 * Takes out of the headers of a request what is not for the provider. What is sent is a copy: the call may wait for its turn, and
 * whoever made it may use the same object for the next one meanwhile, with another key in it.
 */
export function takeOwn(given: RequestInit["headers"] = {}): OwnHeaders {
  // Mostly there is nothing, and headers of the platform's take longer to make than a copy in the form they came in.
  if (!hasOwn(given)) return { siting: {}, wish: NO_WISH, headers: copied(given) };
  const headers = new Headers(given);
  headers.delete(LENGTH);
  return { siting: takeSiting(headers), wish: takeWish(headers), headers };
}

function copied(given: NonNullable<RequestInit["headers"]>): NonNullable<RequestInit["headers"]> {
  if (given instanceof Headers) return new Headers(given);
  return isListed(given) ? [...given].map(([name = "", value = ""]): [string, string] => [name, value]) : { ...given };
}

function hasOwn(given: NonNullable<RequestInit["headers"]>): boolean {
  if (isListed(given)) return [...given].some(([name = ""]) => OWN.test(name));
  for (const name in given) if (OWN.test(name)) return true;
  return false;
}

function isListed(given: NonNullable<RequestInit["headers"]>): given is Headers | [string, string][] {
  return Symbol.iterator in given;
}
