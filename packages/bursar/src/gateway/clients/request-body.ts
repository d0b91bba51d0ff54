import { Chunks } from "../http/chunks.js";
import { malformed } from "./malformed-request.js";
import type { RequestHead } from "./request-head.js";

/** How far a client may be ahead: as much as comes with one look at a socket. */
export const MOST_AHEAD: number = 64 * 1024;
/** Nobody has asked for a trailer. */
const MOST_TRAILER = 4096;

/** Small pieces are gathered in so many bytes: each by itself would keep the whole look at the socket that it came with. */
const GATHERED = 8 * 1024;

interface Waiting {
  readonly most: number;
  readonly grow: (bytes: number) => boolean;
  resolve(body: Buffer | null): void;
  reject(error: unknown): void;
}

/** The body of one request, as it comes. */
export class RequestBody {
  /** Whether all of it has come. */
  isWhole: boolean;
  private readonly chunks: Chunks | null;
  /** How many bytes are still to come, where that is known. */
  private left: number;
  private pieces: Buffer[] = [];
  private size = 0;
  /** Small pieces, and how many bytes they are together. */
  private gathered: Buffer | null = null;
  private gathered_bytes = 0;
  private waiting: Waiting | null = null;
  private broken: Error | null = null;
  /** Whether it may not grow any more, so that nothing of it is kept. */
  private isRefused = false;

  constructor({ isChunked, length }: RequestHead) {
    this.left = length;
    this.isWhole = !isChunked && length === 0;
    this.chunks = isChunked ? new Chunks((piece) => this.keep(piece), malformed, MOST_TRAILER) : null;
  }

  /** Takes the next bytes, and says how many of them stand behind its end. */
  read(bytes: Buffer): number {
    if (this.isWhole) return bytes.length;
    let behind = 0;
    if (this.chunks === null) {
      const own = bytes.length <= this.left ? bytes : bytes.subarray(0, this.left);
      behind = bytes.length - own.length;
      this.left -= own.length;
      this.isWhole = this.left === 0;
      if (own.length > 0) this.keep(own);
    } else {
      this.isWhole = this.chunks.read(bytes);
      ({ behind } = this.chunks);
    }
    this.tell();
    return behind;
  }

  /** Whether no more is wanted until somebody asks for it. */
  get isAhead(): boolean {
    return this.waiting === null && this.size > MOST_AHEAD;
  }

  whole(most: number, grow: (bytes: number) => boolean = () => true): Buffer | null | Promise<Buffer | null> {
    // It is known already that it is far too long.
    if (this.chunks === null && this.left > most * 2) return null;
    if (this.size > 0 && !grow(this.size)) return null;
    if (this.isWhole) return this.taken(most);
    return new Promise((resolve, reject) => {
      this.waiting = { most, grow, resolve, reject };
      if (this.broken === null) this.tell();
      else reject(this.broken);
    });
  }

  /** The rest will not come. */
  fail(error: Error): void {
    this.broken = error;
    this.waiting?.reject(error);
  }

  private keep(piece: Buffer): void {
    this.size += piece.length;
    if (this.isRefused) return;
    if (this.waiting !== null && !this.waiting.grow(piece.length)) this.isRefused = true;
    if (this.isRefused || (this.waiting !== null && this.size > this.waiting.most)) this.forget();
    else if (piece.length * 2 >= piece.buffer.byteLength) {
      this.closeGathered();
      this.pieces.push(piece);
    } else this.gather(piece);
  }

  private gather(piece: Buffer): void {
    if (this.gathered !== null && this.gathered.length - this.gathered_bytes < piece.length) this.closeGathered();
    this.gathered ??= Buffer.allocUnsafeSlow(Math.max(GATHERED, piece.length));
    piece.copy(this.gathered, this.gathered_bytes);
    this.gathered_bytes += piece.length;
  }

  private closeGathered(): void {
    if (this.gathered === null) return;
    this.pieces.push(this.gathered.subarray(0, this.gathered_bytes));
    this.gathered = null;
    this.gathered_bytes = 0;
  }

  private forget(): void {
    this.pieces = [];
    this.gathered = null;
    this.gathered_bytes = 0;
  }

  private tell(): void {
    if (this.waiting === null) return;
    const { most, resolve } = this.waiting;
    if (this.isRefused) resolve(null);
    else if (this.isWhole) resolve(this.taken(most));
    else if (this.size > most * 2) resolve(null);
  }

  private taken(most: number): Buffer | null {
    this.closeGathered();
    const { pieces, size } = this;
    this.pieces = [];
    if (size > most) return null;
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size);
  }
}
