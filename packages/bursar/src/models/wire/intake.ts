import { Buffer } from "node:buffer";
import type { Json } from "../../core/chain/canonical.js";
import type { HostedToolKind } from "./hosted-tools.js";
import { isImageAddress } from "./image-address.js";
import type { RequestFacts } from "./protocol.js";
import { nameOf, type Place } from "./request-fields.js";

/** Providers write something around every conversation that the request does not show. */
const AROUND = 64;

/** What a request takes in, gathered part by part while it is read. The bytes of the body count from the start. */
export class Intake {
  /** The first thing of unknown size. */
  beyond: string | null = null;
  audio = false;
  /** The tools that the provider runs. */
  readonly tools: { readonly kind: HostedToolKind; readonly uses: number | null }[] = [];
  caches: "no" | "5m" | "1h" = "no";
  #extra = AROUND;
  #pieces: string[] | null = [];
  readonly #bytes: number;
  readonly #compatible: boolean;

  constructor({ bytes, compatible }: RequestFacts) {
    this.#bytes = bytes;
    this.#compatible = compatible;
  }

  text(piece: string): void {
    this.#pieces?.push(piece);
  }

  /** Tokens that come on top of the bytes. */
  add(tokens: number): void {
    this.#extra += tokens;
  }

  /**
   * A picture, which costs as many tokens as the provider cuts it into, whatever it weighs. What stands in the body has been
   * counted as bytes. At the provider whose rules those are, the figure takes their place; elsewhere they stay the bound if they are
   * more, because servers we do not know may count them.
   */
  image(figure: number, bytes: number): void {
    this.#pieces = null;
    this.#extra += this.#compatible ? Math.max(0, figure - bytes) : figure - bytes;
  }

  /** A picture at an address or in a data URL. The provider refuses all else in its place; servers we do not know may read a file there. */
  imageAt(url: string, format: Json | undefined, figure: number, place: Place, bytes: number = url.length): void {
    if (this.#compatible && !isImageAddress(url, format)) this.unknown(() => `the file in ${nameOf(place)}`);
    else this.image(figure, bytes);
  }

  /** Sound in the body. Its bytes bound it: no format puts a tenth of a second, which is one token, into one byte. */
  sound(): void {
    this.#pieces = null;
    this.audio = true;
  }

  /** Something that the provider keeps, of which the size may be known from when it came by. */
  kept(tokens: number | null, what: Place): void {
    this.#pieces = null;
    if (tokens === null) this.unknown(what);
    else this.#extra += tokens;
  }

  /** Something whose size the request does not show. */
  unknown(what: Place): void {
    this.#pieces = null;
    this.beyond ??= nameOf(what);
  }

  cache(ttl: "5m" | "1h"): void {
    if (this.caches !== "1h") this.caches = ttl;
  }

  /** A tool that the provider runs: what it brings in is only bounded by the model's window. `uses` is null where it is open. */
  host(kind: HostedToolKind, uses: number | null, what: Place): void {
    this.unknown(what);
    this.tools.push({ kind, uses });
  }

  get input_tokens(): number {
    return this.#bytes + this.#extra;
  }

  get texts(): Texts | null {
    return this.#pieces === null ? null : new Texts(this.#pieces, this.#bytes, this.#extra);
  }
}

/** The texts of a request. Few are asked for more than that there are some. */
class Texts {
  readonly pieces: readonly string[];
  readonly #bytes: number;
  readonly #extra: number;

  constructor(pieces: readonly string[], bytes: number, extra: number) {
    this.pieces = pieces;
    this.#bytes = bytes;
    this.#extra = extra;
  }

  /** Everything around them by its bytes: JSON has no shorter way to write a text than `JSON.stringify`. */
  get around(): number {
    let written = 0;
    for (const piece of this.pieces) written += Buffer.byteLength(JSON.stringify(piece));
    return Math.max(0, this.#bytes - written) + this.#extra;
  }
}
