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

async function answer({ ask, patienceMs }: Request, { keeper }: Opened): Promise<Reply | null> {
  if (ask.op !== 'wake') return keeper.ask(ask, patienceMs);
  await keeper.wake(ask);
  return null;
}

self.onmessage = async ({ data: request }: MessageEvent<Request>) => {
  const { id, medium } = request;
  try {
    opened ??= open(medium);
    const there = await opened;
    post({ id, reply: await answer(request, there), medium: there.medium });
  } catch (error) {
    // What could not be opened is tried anew by the next request.
    opened = null;
    const { message: why } = error instanceof StoreFailure ? error : new StoreFailure('open', error);
    post({ id, reply: { type: 'failed', stage: 'open', why }, medium });
  }
};
