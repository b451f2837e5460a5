// Serves a folder to browsers on this machine, the package's own if no other is named: for the demo, the benchmark and the
// tests. Nothing outside of the folder is reachable.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };

/** Starts serving on this port (0: one of the system's choice), and says which it is. */
export async function serve(port = 0, root = ROOT) {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    // Below `/copy/` everything is there a second time: what is loaded from there is another copy of it.
    const file = join(root, normalize(pathname.replace(/^\/copy\//, '/')));
    // Anybody may load it, so that a page without an origin can too.
    response.setHeader('Access-Control-Allow-Origin', '*');
    // `?csp=` in the address: a page that has this policy.
    const policy = searchParams.get('csp');
    if (policy) response.setHeader('Content-Security-Policy', policy);
    const found = await stat(file).catch(() => null);
    if (!found?.isFile()) return response.writeHead(404).end();
    response.setHeader('Content-Type', TYPES[extname(file)] ?? 'text/plain');
    return createReadStream(file).pipe(response);
  });
  await new Promise((listening, failed) => server.once('error', failed).listen(port, '127.0.0.1', listening));
  return {
    port: server.address().port,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
