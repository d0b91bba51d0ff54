// A program that knows nothing of budgets and listens to signals as it is told to. It asks a model, and then waits for ever.
import OpenAI from "openai";

const client = new OpenAI({ apiKey: "k" });
const [listening, ...kinds] = process.argv.slice(2);
const messages = [{ role: "user", content: "Hello." }];
let heard = 0;

const listen = {
  // Nobody listens, so the signal ends it.
  not: () => {},
  // Ends by itself, with a status of its own.
  exit: (signal) => process.on(signal, () => process.exit(7)),
  // Ends when it is told so for the third time.
  stay: (signal) => {
    process.on(signal, () => {
      heard++;
      console.error(`heard ${heard}`);
      if (heard === 3) process.exit(0);
    });
  },
  // Listens once; whoever means it sends the signal again.
  once: (signal) => process.once(signal, () => console.error("heard 1")),
  // As libraries that clean up do it: whoever is the only one to listen has to end the process himself.
  alone: (signal) => {
    const clean = () => {
      const alone = process.listenerCount(signal) === 1;
      console.error(`cleaned up ${alone ? "alone" : "among others"}`);
      process.off(signal, clean);
      if (alone) process.kill(process.pid, signal);
    };
    process.on(signal, clean);
  },
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) listen[listening](signal);

const ask = {
  chat: async () => client.chat.completions.create({ model: "scripted", messages }),
  stream: async () => {
    for await (const _ of await client.chat.completions.create({ model: "scripted", messages, stream: true }));
  },
};
for (const kind of kinds) {
  try {
    await ask[kind]();
  } catch (error) {
    console.error(`the program has seen ${error}`);
  }
}
console.error("ready");
await new Promise(() => setInterval(() => {}, 1000));
