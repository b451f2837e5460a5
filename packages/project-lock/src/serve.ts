// What answers requests, in the worker or in its place: opens the store that the browser has, one for each project, and
// hands every request to its keeper.

import { systemClock } from './clock.js';
import { openIdb } from './idb.js';
import { failed, Keeper } from './keeper.js';
import type { Store } from './store.js';
import type { Medium, Message, Request } from './wire.js';

interface Opened {
  readonly keeper: Keeper;
  readonly medium: Medium;
}

/** `openFiles`: the store in files, or null where there is none for this origin. */
export function serve(
  post: (message: Message) => void,
  openFiles: (name: string) => Promise<Store | null>,
): (request: Request) => Promise<void> {
  const projects = new Map<string, Promise<Opened>>();
  const open = async (name: string, medium: Medium): Promise<Opened> => {
    const files = medium === 'opfs' ? await openFiles(name) : null;
    const keeper = new Keeper(files ?? openIdb(name), systemClock, (notice) => post({ notice }));
    return { keeper, medium: files ? 'opfs' : 'idb' };
  };
  return async ({ id, name, medium, ask, patienceMs }) => {
    try {
      const opening = projects.get(name) ?? open(name, medium);
      projects.set(name, opening);
      const { keeper, medium: used } = await opening;
      await keeper.ask(ask, patienceMs, (reply) => post({ id, reply, medium: used }));
    } catch (error) {
      // What could not be opened is tried anew by the next request.
      projects.delete(name);
      post({ id, reply: failed(error, 'open', true), medium });
    }
  };
}
