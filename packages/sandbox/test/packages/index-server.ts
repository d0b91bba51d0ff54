import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sha256 } from "./packing.js";

/** A file as an index lists it; what is not said is as it should be. */
export interface Listed {
  readonly name: string;
  readonly bytes: Buffer;
  /** What the index claims where it differs. */
  readonly claimedSha256?: string;
  readonly requiresPython?: string;
  readonly yanked?: boolean | string;
  /** Served beside the file, so that nobody has to download it for its metadata. */
  readonly metadata?: string;
}

/** How a request is answered instead of as usual. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface IndexServer extends AsyncDisposable {
  readonly url: string;
  /** Every path that was asked for, in order. */
  readonly asked: readonly string[];
  /** Every Authorization that was sent. */
  readonly authorizations: readonly (string | undefined)[];
  /** Answers a path in another way. */
  answer(path: string, answer: Answer): void;
}

/** Starts a real server on loopback that speaks the simple API in JSON and serves files. */
export async function startIndex(projects: Readonly<Record<string, readonly Listed[]>>): Promise<IndexServer> {
  const asked: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const answers = new Map<string, Answer>();
  const served = new Map<string, Buffer>();
  for (const file of Object.values(projects).flat()) {
    served.set(`/files/${file.name}`, file.bytes);
    if (file.metadata !== undefined) served.set(`/files/${file.name}.metadata`, Buffer.from(file.metadata));
  }
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    authorizations.push(request.headers.authorization);
    const answer = answers.get(path);
    if (answer !== undefined) return answer(request, response);
    const file = served.get(path);
    if (file !== undefined) return void response.writeHead(200).end(file);
    const project = projects[/^\/simple\/([^/]+)\/$/.exec(path)?.[1] ?? ""];
    if (project === undefined) return void response.writeHead(404).end("no such thing");
    response.writeHead(200, { "content-type": "application/vnd.pypi.simple.v1+json" });
    response.end(JSON.stringify(pageOf(project)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/simple/`,
    asked,
    authorizations,
    answer: (path, answer) => void answers.set(path, answer),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pageOf(files: readonly Listed[]): unknown {
  return {
    meta: { "api-version": "1.1" },
    files: files.map((file) => ({
      filename: file.name,
      url: `../../files/${file.name}`,
      hashes: { sha256: file.claimedSha256 ?? sha256(file.bytes) },
      "requires-python": file.requiresPython ?? null,
      yanked: file.yanked ?? false,
      "core-metadata": file.metadata === undefined ? false : { sha256: sha256(file.metadata) },
    })),
  };
}
