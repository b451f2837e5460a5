// The lock of this page, wired to the real browser: which parts it has is found out here, by looking for them. Nothing
// happens before the first call.

import { systemClock } from './clock.js';
import { WorkerLink } from './link.js';
import { ProjectLock } from './lock.js';

let lock: ProjectLock | null = null;

/** One for each page: a tab must recognise its own lease. */
export function projectLock(): ProjectLock {
  return (lock ??= open());
}

function open(): ProjectLock {
  const link = new WorkerLink(
    () => new Worker(new URL('./guard.js', import.meta.url), { type: 'module' }),
    () => (typeof navigator.storage?.getDirectory === 'function' ? 'opfs' : 'idb'),
    systemClock,
  );
  const made = new ProjectLock({ locks: () => navigator.locks ?? null, link, clock: systemClock, uuid });
  followThePage(made);
  return made;
}

/** A page that comes back may have been displaced; one that goes, for good or into the cache, spares others the wait. */
function followThePage(lock: ProjectLock): void {
  addEventListener('pageshow', ({ persisted }) => persisted && lock.resume());
  addEventListener('pagehide', ({ persisted }) => (persisted ? lock.pause() : lock.abandon()));
  document.addEventListener('freeze', () => lock.pause());
  document.addEventListener('resume', () => lock.resume());
}

/** `crypto.randomUUID` is kept from insecure contexts; random bytes are not. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(36));
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place, at: number) => {
    const digit = (bytes[at] ?? 0) & 15;
    return (place === 'x' ? digit : (digit & 3) | 8).toString(16);
  });
}
