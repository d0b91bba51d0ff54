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

/** Takes out of the headers of a request what is not for the provider. */
export function takeOwn(given: RequestInit["headers"] = {}): OwnHeaders {
  // Mostly there is nothing, and to copy them takes a while.
  if (!hasOwn(given)) return { siting: {}, wish: NO_WISH, headers: given };
  const headers = new Headers(given);
  headers.delete(LENGTH);
  return { siting: takeSiting(headers), wish: takeWish(headers), headers };
}

function hasOwn(given: NonNullable<RequestInit["headers"]>): boolean {
  const isListed = given instanceof Headers || Array.isArray(given) || Symbol.iterator in given;
  if (isListed) return [...(given as Iterable<readonly string[]>)].some(([name = ""]) => OWN.test(name));
  for (const name in given) if (OWN.test(name)) return true;
  return false;
}
