// Tells a page when another tab takes the project or gives it back: at once if that tab listens too, because they tell each
// other, and otherwise within seconds, because everybody looks now and then.

import { projectLock } from './browser.js';
import type { NamedProjectLock, ProjectLockHolder, ProjectLockSubscription } from './types.js';
import { whoHolds } from './who.js';

const LOOK_MS = 3000;
const CHANGES = ['acquired', 'released', 'expired', 'release-failed'];

/** Calls the listener with who holds the project: once at the beginning, and whenever that is another lease. */
export function onChange(
  listener: (holder: ProjectLockHolder | null) => void,
  lock: NamedProjectLock = projectLock(),
): ProjectLockSubscription {
  const channel = new BroadcastChannel(`holdfast:changes:${lock.name}`);
  let known: string | null | undefined;
  let ended = false;
  let looking = Promise.resolve();
  const look = () => {
    looking = looking.then(async () => {
      const holder = await whoHolds(lock).catch(() => undefined);
      const id = holder && `${holder.leaseId} ${holder.isMine}`;
      if (ended || id === undefined || id === known) return;
      known = id;
      try {
        listener(holder ?? null);
      } catch (error) {
        globalThis.reportError?.(error);
      }
    });
  };
  const timer = setInterval(look, LOOK_MS);
  channel.onmessage = look;
  const { unsubscribe } = lock.subscribe(({ type }) => {
    if (!CHANGES.includes(type)) return;
    channel.postMessage(type);
    look();
  });
  look();
  return {
    unsubscribe() {
      ended = true;
      clearInterval(timer);
      unsubscribe();
      channel.close();
    },
  };
}
