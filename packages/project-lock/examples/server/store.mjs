// A server that keeps one text for each project, and takes a write only with a fence that is not smaller than the last one:
// a tab that slept through its lease writes nothing, whatever it believes.

import { createServer } from 'node:http';

const MOST_BYTES = 1_000_000;

/** Starts it on a port of the system's choice. */
export async function start(allowedOrigin) {
  const projects = new Map();
  const server = createServer(async (request, response) => {
    response.setHeader('Access-Control-Allow-Origin', allowedOrigin);
    response.setHeader('Access-Control-Allow-Methods', 'GET, PUT');
    response.setHeader('Access-Control-Allow-Headers', 'X-Fence');
    const stored = projects.get(request.url) ?? { fence: 0, text: '' };
    if (request.method === 'OPTIONS') return response.writeHead(204).end();
    if (request.method === 'GET') return response.end(JSON.stringify(stored));
    const fence = Number(request.headers['x-fence']);
    if (!Number.isSafeInteger(fence) || fence < 1) return response.writeHead(428).end('a write needs X-Fence');
    let text = '';
    for await (const part of request.setEncoding('utf8')) {
      text += part;
      if (text.length > MOST_BYTES) return response.writeHead(413).end();
    }
    // Read again: while this body arrived, another may have been stored. No step waits between the check and the write.
    const { fence: last = 0 } = projects.get(request.url) ?? {};
    if (fence < last) return response.writeHead(409).end(`fence ${fence} is behind ${last}`);
    projects.set(request.url, { fence, text });
    return response.writeHead(204).end();
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: server.address().port,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
