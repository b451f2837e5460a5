// The worker: the only place from which the record is touched. A page has one; it opens the store that the page's browser
// has, and hands every request to the keeper. It keeps no handle for more than milliseconds.

import { systemClock } from './clock.js';
import { openIdb } from './idb.js';
import { failed, Keeper } from './keeper.js';
import { openOpfs } from './opfs.js';
import type { Medium, Message, Request } from './wire.js';

interface Opened {
  readonly keeper: Keeper;
  readonly medium: Medium;
}

const post = (message: Message): void => (self as unknown as Worker).postMessage(message);
let opened: Promise<Opened> | null = null;

async function open(medium: Medium): Promise<Opened> {
  const opfs = medium === 'opfs' ? await openOpfs() : null;
  const store = opfs ?? openIdb();
  const keeper = new Keeper(store, systemClock, (notice) => post({ notice }));
  return { keeper, medium: opfs ? 'opfs' : 'idb' };
}

self.onmessage = async ({ data: { id, medium, ask, patienceMs } }: MessageEvent<Request>) => {
  try {
    opened ??= open(medium);
    const { keeper, medium: used } = await opened;
    await keeper.ask(ask, patienceMs, (reply) => post({ id, reply, medium: used }));
  } catch (error) {
    // What could not be opened is tried anew by the next request.
    opened = null;
    post({ id, reply: failed(error, 'open', true), medium });
  }
};
