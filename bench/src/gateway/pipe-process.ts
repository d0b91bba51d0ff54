import { Agent, createServer, request } from "node:http";
import { tellTaken } from "./processes.js";

/* Run by bench/gateway in a process of its own: what a reverse proxy costs that does nothing but pass bytes on. */

const [, , host = "127.0.0.1", port = "0"] = process.argv;
const agent = new Agent({ keepAlive: true });
const server = createServer((incoming, response) => {
  const { method, url: path, headers } = incoming;
  const sent = request({ host, port: Number(port), method, path, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  sent.on("error", () => response.destroy());
  incoming.pipe(sent);
});
tellTaken();
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
