// Loads a command, says that it is ready, and runs it at a sign: so that nobody decides before it only because Node takes its
// time to load it.
import { once } from "node:events";
import { pathToFileURL } from "node:url";

const [node, , main, ...args] = process.argv;
const built = pathToFileURL(main);
for (const chunk of [args[0], "sqlite"]) await import(new URL(`../dist/bundle/${chunk}.js`, built).href);
process.stdout.write("ready\n");
await once(process.stdin, "data");
process.stdin.destroy();
process.argv = [node, main, ...args];
await import(built.href);
