import type { Topic } from "../../ports/store.js";
import type { Pool } from "./pool.js";

const CHANNEL = "bursar";
/** What is sent for each topic. */
const WORDS: Readonly<Record<Topic, string>> = { amounts: "free", runs: "queued" };
/** Told at most so often: each notification takes a lock that all of the server's transactions share. */
const SPREAD_MS = 20;
/** How often those who wait look by themselves, in case a notification got lost. */
const POLL_MS = 500;
/** After a budget was found busy, so long. */
const WAITING_MS = 60_000;

/**
 * News from other processes that amounts may have become free, or runs may have been queued. They travel outside of transactions and may get lost, so
 * whoever waits also looks by himself.
 */
export class News implements AsyncDisposable {
  private readonly server: Pool;
  private readonly tell: (topic?: Topic) => void;
  private listening = false;
  private readonly due = new Set<Topic>();
  private spreading: NodeJS.Timeout | null = null;
  private polling: NodeJS.Timeout | null = null;
  private pollUntil = 0;

  constructor(server: Pool, tell: (topic?: Topic) => void) {
    this.server = server;
    this.tell = tell;
  }

  listen(): void {
    // A server that cannot be listened to right now is polled instead.
    if (!this.listening) this.server.listen(CHANNEL, (word) => this.tell(topicOf(word)));
    this.listening = true;
  }

  /** Tells the other processes, soon. */
  spread(topic: Topic): void {
    this.due.add(topic);
    this.spreading ??= setTimeout(() => {
      this.spreading = null;
      for (const each of this.due) this.server.notify(CHANNEL, WORDS[each]);
      this.due.clear();
    }, SPREAD_MS).unref();
  }

  /** Looks for changes now and then for a while, because somebody waits. */
  await(): void {
    this.pollUntil = performance.now() + WAITING_MS;
    this.polling ??= setInterval(() => {
      if (performance.now() < this.pollUntil) return this.tell("amounts");
      if (this.polling !== null) clearInterval(this.polling);
      this.polling = null;
    }, POLL_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.spreading !== null) clearTimeout(this.spreading);
    if (this.polling !== null) clearInterval(this.polling);
    // The connection that listens ends with the others; to say goodbye first could wait for ever.
  }
}

/** Everything is told of a word that is not known here. */
function topicOf(word: string): Topic | undefined {
  return (Object.keys(WORDS) as Topic[]).find((topic) => WORDS[topic] === word);
}
