import type { Socket } from "node:net";

/** How many connections there may be. */
export interface SlotLimits {
  readonly connections: number;
  readonly connections_per_address: number;
}

/** What a connection does. Those that were never used are given up first, and those with a request under way never are. */
export type ConnectionUse = "unused" | "answered" | "idle" | "busy";

/** What is known of a connection on which a request has come. */
export interface UsedConnection {
  readonly use: ConnectionUse;
  /** When its last answer was written, by the clock that only goes forward. */
  readonly answered_at: number;
}

interface Slot {
  readonly socket: Socket;
  readonly address: string;
  /** Undefined as long as nothing has come on it. */
  readonly known: () => UsedConnection | undefined;
}

/** How a connection stands that could be given up. */
interface Spare {
  readonly slot: Slot;
  readonly since: number;
}

/** In this order connections are given up for new ones. */
const GIVEN_UP: readonly ConnectionUse[] = ["answered", "unused", "idle"];

/** Of these the one that was opened first is given up first. */
const NEVER_USED: UsedConnection = { use: "unused", answered_at: 0 };

/**
 * The connections of a port, and how many of them there may be, in all and from one address. A new one takes the place of one on which
 * nothing is under way, of the same address where that has too many: connections that are opened and left do not keep others out.
 */
export class ConnectionSlots {
  private readonly limits: SlotLimits;
  /** In the order in which they were opened. */
  private readonly slots = new Map<Socket, Slot>();
  private readonly byAddress = new Map<string, Set<Slot>>();

  constructor(limits: SlotLimits) {
    this.limits = limits;
  }

  get sockets(): Iterable<Socket> {
    return this.slots.keys();
  }

  /** Takes a connection, or closes it where there is no room for it. Tells whether it was taken. */
  take(socket: Socket, known: () => UsedConnection | undefined): boolean {
    const { remoteAddress: address } = socket;
    // It is closed already.
    if (address === undefined) return this.refuse(socket);
    const { connections, connections_per_address } = this.limits;
    const there = this.byAddress.get(address) ?? new Set<Slot>();
    if (there.size >= connections_per_address && !this.giveUp(there)) return this.refuse(socket);
    if (this.slots.size >= connections && !this.giveUp(this.slots.values())) return this.refuse(socket);
    const slot = { socket, address, known };
    this.slots.set(socket, slot);
    // Looked up again, because the last one of an address may just have been given up.
    this.byAddress.set(address, (this.byAddress.get(address) ?? there).add(slot));
    socket.once("close", () => this.free(slot));
    return true;
  }

  private refuse(socket: Socket): false {
    socket.destroy();
    return false;
  }

  /** Closes the one on which nothing has been under way for the longest. */
  private giveUp(slots: Iterable<Slot>): boolean {
    const spare = new Map<ConnectionUse, Spare>();
    for (const slot of slots) {
      const { use, answered_at: since } = slot.known() ?? NEVER_USED;
      if (use !== "busy" && since < (spare.get(use)?.since ?? Number.POSITIVE_INFINITY))
        spare.set(use, { slot, since });
      if (use === GIVEN_UP[0]) break;
    }
    const use = GIVEN_UP.find((each) => spare.has(each));
    const slot = use === undefined ? undefined : spare.get(use)?.slot;
    if (slot === undefined) return false;
    // Its place is free at once, and not only when the system has closed it.
    this.free(slot);
    slot.socket.destroy();
    return true;
  }

  private free(slot: Slot): void {
    if (!this.slots.delete(slot.socket)) return;
    const there = this.byAddress.get(slot.address);
    there?.delete(slot);
    if (there?.size === 0) this.byAddress.delete(slot.address);
  }
}
