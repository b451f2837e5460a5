// Serves the package's own folder on a port of the system's choice, so that the browser loads the files that ship.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json' };
/** A page that tells its browser to run no worker: `?csp` in the address. */
const NO_WORKERS = "worker-src 'none'";

export interface Site {
  readonly port: number;
  close(): Promise<void>;
}

export async function serve(): Promise<Site> {
  const server: Server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
    const file = join(ROOT, normalize(pathname));
    // Anybody may load it, so that a page without an origin can too.
    response.setHeader('Access-Control-Allow-Origin', '*');
    if (search === '?csp') response.setHeader('Content-Security-Policy', NO_WORKERS);
    stat(file).then(
      () => {
        response.setHeader('Content-Type', TYPES[extname(file)] ?? 'text/plain');
        createReadStream(file).pipe(response);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
