import { isCanonical } from "./canonical.js";
import { claimedHash, endsWithHash, hashedText } from "./line.js";
import { checkMember, LinkError, MEMBER_RULES, type MemberName } from "./rules.js";

/** What a line holds, before and after its members have been looked at. */
type Members = { [member in MemberName]?: unknown };

/** Reads a line, and throws a `LinkError` unless its members are those of a link and written as they have to be. */
export function parseMembers(line: string): Members {
  const hasHash = endsWithHash(line);
  const link = parseObject(hasHash ? hashedText(line) : line);
  if (hasHash) addHash(link, claimedHash(line));
  checkMembers(link);
  if (line.endsWith("\r")) throw new LinkError("not_canonical", "it ends with a carriage return");
  if (!hasHash || !isCanonical(hashedText(line))) {
    throw new LinkError("not_canonical", "it is not written as canonical JSON with its hash at the end");
  }
  return link;
}

function parseObject(text: string): Members {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may be anybody's data.
    throw new LinkError("malformed", "it is not JSON");
  }
  if (!MEMBER_RULES.data.holds(value)) throw new LinkError("malformed", "it is not a JSON object");
  return value as Members;
}

/** A body that already has a hash would say two things about itself, and readers would differ on which one counts. */
function addHash(body: Members, hash: string): void {
  if (Object.hasOwn(body, "hash")) throw new LinkError("malformed", 'it has the member "hash" twice');
  body.hash = hash;
}

function checkMembers(link: Members): void {
  for (const member of Object.keys(MEMBER_RULES) as MemberName[]) {
    if (Object.hasOwn(link, member)) checkMember(member, link[member]);
    else if (member !== "event") throw new LinkError("malformed", `"${member}" is missing`);
  }
  if (!Object.keys(link).every((member) => Object.hasOwn(MEMBER_RULES, member))) {
    throw new LinkError("malformed", "it has a member that links do not have");
  }
  if (link.id !== `${link.chain}#${link.seq}`) {
    throw new LinkError("malformed", '"id" is not made of its "chain" and "seq"');
  }
}
