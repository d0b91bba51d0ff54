// Loads a command, says that it is ready, and runs it at a sign: so that nobody decides before it only because Node takes its
// time to load it.
import { once } from "node:events";
import { pathToFileURL } from "node:url";

const [node, , main, ...args] = process.argv;
const built = pathToFileURL(main);
await import(new URL(`commands/${args[0]}.js`, built).href);
await import("bursar/sqlite");
process.stdout.write("ready\n");
await once(process.stdin, "data");
process.stdin.destroy();
process.argv = [node, main, ...args];
await import(built.href);
