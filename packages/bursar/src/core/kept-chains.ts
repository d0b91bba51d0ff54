import { claimedHash } from "./chain/line.js";
import { emptyHead, type Head } from "./chain/link.js";
import { KeptLines } from "./kept-lines.js";

/** A chain as far as it is kept. */
interface KeptChain {
  head: Head;
  /** The position of its last link, made or due. */
  seq: number;
  /** The last link that was dropped; `emptyHead` where none was. */
  dropped: Head;
  /** Where the lines behind that are, in order. */
  readonly places: number[];
  /** How many characters each of them has. */
  readonly lengths: number[];
  /** How many characters these have together. */
  characters: number;
  /** How many of its budgets have not ended. */
  open: number;
}

/** The lines of one block, in order: to which chain each belongs, and at which position. */
interface BlockLines {
  readonly chains: KeptChain[];
  readonly seqs: number[];
}

/** What is left when lines are dropped, so that it is seldom done. */
const LEFT_SHARE = 0.75;
/** A chain that has more than this of all that may be kept loses its front to leave room for the others. */
const LARGEST_SHARE = 0.5;
const CUT_SHARE = 0.25;

/**
 * The chains of a store in memory. Beyond so many characters lines are dropped: those of the chains whose budgets have ended, in the order in
 * which they ended, then the oldest of the others. Of each chain the end stays, so that it verifies from the last dropped link on.
 */
export class KeptChains {
  private readonly most: number;
  private readonly chains = new Map<string, KeptChain>();
  private readonly kept = new KeptLines();
  /** What is in each block, and the blocks in the order in which they were begun. */
  private readonly blocks = new Map<number, BlockLines>();
  /** The chains of which all budgets have ended, in that order. */
  private ended: KeptChain[] = [];
  /** How many characters are kept that were not dropped. */
  private characters = 0;

  constructor(most: number) {
    this.most = most;
  }

  get(id: string): KeptChain | undefined {
    return this.chains.get(id);
  }

  /** The chain of this name, which is made where there is none. */
  chain(id: string): KeptChain {
    const known = this.chains.get(id);
    if (known !== undefined) return known;
    const head = emptyHead(id);
    const chain = { head, seq: -1, dropped: head, places: [], lengths: [], characters: 0, open: 0 };
    this.chains.set(id, chain);
    return chain;
  }

  all(): Iterable<KeptChain> {
    return this.chains.values();
  }

  /** Adds lines to a chain, the last of which has the position `seq`. */
  add(chain: KeptChain, lines: readonly string[], seq: number): void {
    let position = seq - lines.length;
    for (const line of lines) this.keep(chain, line, ++position);
    if (this.kept.characters > this.most) this.shrink(chain);
  }

  /** A line by its position; undefined when it was dropped, or the chain has not come so far. */
  line(id: string, seq: number): string | undefined {
    const chain = this.chains.get(id);
    const place = chain?.places[seq - chain.dropped.seq - 1];
    return place === undefined ? undefined : this.kept.at(place);
  }

  lines(id: string): readonly string[] {
    return this.chains.get(id)?.places.map((place) => this.kept.at(place)) ?? [];
  }

  /** A budget of the chain was opened, or has ended. */
  count(id: string, more: 1 | -1): void {
    const chain = this.chain(id);
    chain.open += more;
    if (chain.open === 0) this.ended.push(chain);
  }

  private keep(chain: KeptChain, line: string, seq: number): void {
    const place = this.kept.add(line);
    const block = this.kept.blockOf(place);
    let lines = this.blocks.get(block);
    if (lines === undefined) {
      lines = { chains: [], seqs: [] };
      this.blocks.set(block, lines);
    }
    lines.chains.push(chain);
    lines.seqs.push(seq);
    const at = seq - chain.dropped.seq - 1;
    // One that is moved has its place in the chain already.
    if (at < chain.places.length) {
      chain.places[at] = place;
      return;
    }
    chain.places.push(place);
    chain.lengths.push(line.length + 1);
    chain.characters += line.length + 1;
    this.characters += line.length + 1;
  }

  private shrink(grown: KeptChain): void {
    const left = this.most * LEFT_SHARE;
    if (grown.characters > this.most * LARGEST_SHARE) this.cutTo(grown, this.most * CUT_SHARE);
    this.dropEnded(left);
    for (const [block, lines] of this.blocks) {
      if (this.kept.characters <= this.most || this.kept.isOpen(block)) return;
      this.blocks.delete(block);
      if (this.characters > left) this.dropLines(lines);
      else this.moveLines(block, lines);
      this.kept.drop(block);
    }
  }

  private dropEnded(left: number): void {
    let dropped = 0;
    for (; dropped < this.ended.length && this.characters > left; dropped++) {
      const chain = this.ended[dropped] as KeptChain;
      if (chain.open === 0) this.cut(chain, chain.places.length);
    }
    this.ended = this.ended.slice(dropped);
  }

  private cutTo(chain: KeptChain, characters: number): void {
    let count = 0;
    let length = 0;
    while (chain.characters - length > characters) length += chain.lengths[count++] as number;
    this.cut(chain, count);
  }

  /** Drops the lines of a block, and all before them in their chains. */
  private dropLines({ chains, seqs }: BlockLines): void {
    for (let index = chains.length - 1; index >= 0; index--) {
      const chain = chains[index] as KeptChain;
      const count = (seqs[index] as number) - chain.dropped.seq;
      if (count > 0) this.cut(chain, count);
    }
  }

  /** Keeps what is still wanted of a block in another one. */
  private moveLines(block: number, { chains, seqs }: BlockLines): void {
    for (const [index, chain] of chains.entries()) {
      const seq = seqs[index] as number;
      const place = chain.places[seq - chain.dropped.seq - 1];
      if (place !== undefined && this.kept.blockOf(place) === block) this.keep(chain, this.kept.at(place), seq);
    }
  }

  /** Drops the first lines of a chain. */
  private cut(chain: KeptChain, count: number): void {
    const last = chain.places[count - 1];
    const hash = last === undefined ? chain.dropped.hash : claimedHash(this.kept.at(last));
    chain.places.splice(0, count);
    const length = chain.lengths.splice(0, count).reduce((sum, each) => sum + each, 0);
    chain.dropped = { chain: chain.head.chain, seq: chain.dropped.seq + count, hash };
    chain.characters -= length;
    this.characters -= length;
  }
}
