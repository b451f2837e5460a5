// The work of the worker, done where it is asked for: in a page that can start none, because of its content security policy
// or because its bundler left `guard.js` behind, and inside of workers. Loaded only then. The record is the same one, and so
// is the exclusion; only the beats are not better than the timers of the page.

import type { Host } from './link.js';
import { openOpfs } from './opfs.js';
import { openPageOpfs } from './page-opfs.js';
import { serve } from './serve.js';
import type { Message } from './wire.js';

export function inPlace(): Host {
  let stopped = false;
  const post = (data: Message) => {
    if (!stopped) host.onmessage?.call(host as Worker, { data } as MessageEvent<Message>);
  };
  const answer = serve(post, async (name) => (await openOpfs(name)) ?? openPageOpfs(name));
  const host: Host = {
    onmessage: null,
    onerror: null,
    postMessage: (request) => void answer(request),
    terminate: () => void (stopped = true),
  };
  return host;
}
