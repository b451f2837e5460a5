// The worker: the only place from which the record is touched. A page has one; it opens the store that the page's browser
// has, and hands every request to the keeper. It holds no handle between two requests.

import { systemClock } from './clock.js';
import { openIdb } from './idb.js';
import { Keeper } from './keeper.js';
import { openOpfs } from './opfs.js';
import type { Reply } from './reply.js';
import { StoreFailure } from './store.js';
import type { Medium, Message, Request } from './wire.js';

interface Opened {
  readonly keeper: Keeper;
  readonly medium: Medium;
}

const post = (message: Message): void => (self as unknown as Worker).postMessage(message);
let opened: Promise<Opened> | null = null;

async function open(medium: Medium): Promise<Opened> {
  const opfs = medium === 'opfs' ? await openOpfs() : null;
  const store = opfs ?? (await openIdb());
  const keeper = new Keeper(store, systemClock, (notice) => post({ notice }));
  return { keeper, medium: opfs ? 'opfs' : 'idb' };
}

self.onmessage = async ({ data: { id, medium, ask, patienceMs } }: MessageEvent<Request>) => {
  const reply = (reply: Reply | null, used = medium) => post({ id, reply, medium: used });
  try {
    opened ??= open(medium);
    const { keeper, medium: used } = await opened;
    if (ask.op !== 'wake') return await keeper.ask(ask, patienceMs, (told) => reply(told, used));
    await keeper.wake(ask);
    reply(null, used);
  } catch (error) {
    // What could not be opened is tried anew by the next request.
    opened = null;
    const { message: why } = error instanceof StoreFailure ? error : new StoreFailure('open', error);
    reply({ type: 'failed', stage: 'open', why });
  }
};
