import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { KeyRing } from "../gateway/key-ring.js";
import type { Store } from "../ports/store.js";
import type { Principal } from "../runs/principal.js";
import { hashOf } from "../runtime/secret.js";
import { HttpError } from "./http-error.js";
import { isToken, type Token, type Tokens } from "./tokens.js";

/** Who asks. */
export interface Visitor {
  readonly principal: Principal;
  /** The token he has shown, now or when he logged in; null where nobody has to show one. */
  readonly token: string | null;
}

interface Login {
  readonly token: string;
  readonly until: number;
}

/** Who asks where nobody has to log in: whoever reaches an address of this machine can do as much without the server. */
export const OWNER: Principal = { name: "operator", role: "admin" };

const LOGIN_MS = 12 * 3_600_000;
const MOST_LOGINS = 10_000;
const MOST_OF_TOKEN = 100;

const UNKNOWN: HttpError = new HttpError(401, {
  code: "unauthorized",
  message: "nobody is known by this token, or it is no longer taken",
  hint: "ask whoever runs the server for another, or make one with `bursar tokens create`",
  headers: { "www-authenticate": "Bearer" },
});

const MISSING: HttpError = new HttpError(401, {
  code: "login_required",
  message: "this server wants to know who asks",
  hint: "log in on its page, or send the header `Authorization: Bearer <token>`",
  headers: { "www-authenticate": "Bearer" },
});

/** Knows who asks, by the token that he shows or by the cookie that he got for it. */
export class Visitors {
  private readonly store: Store;
  private readonly tokens: Tokens;
  private readonly demanding: boolean;
  /** The name of the cookie that a login sets. */
  readonly cookie: string;
  private readonly attributes: string;
  private readonly ring: KeyRing<Token>;
  /** By the hash of what the cookie holds. They end with the process; then people log in again. */
  private readonly logins = new Map<string, Login>();

  constructor(store: Store, tokens: Tokens, { demanding, secure }: { demanding: boolean; secure: boolean }) {
    this.store = store;
    this.tokens = tokens;
    this.demanding = demanding;
    // A cookie of that prefix cannot come from anybody but this very host.
    this.cookie = secure ? "__Host-bursar_login" : "bursar_login";
    this.attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
    this.ring = new KeyRing(tokens, store.clock);
  }

  /** Throws when he is unknown. */
  async find({ headers }: IncomingMessage): Promise<Visitor> {
    const [, bearer = null] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? [];
    if (bearer !== null && (this.demanding || isToken(bearer))) {
      const token = await this.ring.find(bearer);
      if (token === null) throw UNKNOWN;
      return visitorOf(token);
    }
    const token = await this.tokenOfCookie(headers);
    if (token !== null) return visitorOf(token);
    if (this.demanding) throw MISSING;
    return { principal: OWNER, token: null };
  }

  /** Whether he is still who he was; for those who stay for long. */
  async isStillKnown({ token }: Visitor): Promise<boolean> {
    return token === null || (await this.tokens.valid(token)) !== null;
  }

  /** The cookie for whoever shows a token; null when it is none. */
  async login(secret: string): Promise<{ readonly visitor: Visitor; readonly cookie: string } | null> {
    const token = await this.tokens.find(secret);
    if (token === null) return null;
    const { instant } = this.store.clock.now();
    for (const [key, { until }] of this.logins) if (until <= instant) this.logins.delete(key);
    this.makeRoom(token.id);
    const value = randomBytes(32).toString("base64url");
    this.logins.set(hashOf(value), { token: token.id, until: instant + LOGIN_MS });
    const cookie = `${this.cookie}=${value}; ${this.attributes}; Max-Age=${LOGIN_MS / 1000}`;
    return { visitor: visitorOf(token), cookie };
  }

  /** Ends a login, and gives the cookie that takes the other's place. */
  logout({ headers }: IncomingMessage): string {
    const value = this.cookieIn(headers);
    if (value !== null) this.logins.delete(hashOf(value));
    return `${this.cookie}=; ${this.attributes}; Max-Age=0`;
  }

  /** Whoever logs in again and again ends his own logins long before those of others. */
  private makeRoom(token: string): void {
    const [oldest] = this.logins.keys();
    if (this.logins.size >= MOST_LOGINS && oldest !== undefined) this.logins.delete(oldest);
    const own = [...this.logins].filter(([, login]) => login.token === token);
    const [first] = own;
    if (own.length >= MOST_OF_TOKEN && first !== undefined) this.logins.delete(first[0]);
  }

  private async tokenOfCookie(headers: IncomingHttpHeaders): Promise<Token | null> {
    const value = this.cookieIn(headers);
    const login = value === null ? undefined : this.logins.get(hashOf(value));
    if (login === undefined || login.until <= this.store.clock.now().instant) return null;
    return this.tokens.valid(login.token);
  }

  private cookieIn({ cookie = "" }: IncomingHttpHeaders): string | null {
    for (const each of cookie.split(";")) {
      const [name, value] = each.split("=", 2);
      if (name?.trim() === this.cookie && value !== undefined) return value.trim();
    }
    return null;
  }
}

function visitorOf({ id, name, role }: Token): Visitor {
  return { principal: { name, role }, token: id };
}
