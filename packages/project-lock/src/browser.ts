// The lock of this page, wired to the real browser: which parts it has is found out here, by looking for them. Nothing
// happens before the first call.

import { systemClock } from './clock.js';
import { WorkerLink } from './link.js';
import { ProjectLock } from './lock.js';

let lock: ProjectLock | null = null;

/** One for each page: a tab must recognise its own lease. */
export function projectLock(): ProjectLock {
  lock ??= open();
  return lock;
}

function open(): ProjectLock {
  const link = new WorkerLink(
    () => new Worker(new URL('./guard.js', import.meta.url), { type: 'module', name: 'holdfast-guard' }),
    () => (typeof navigator.storage?.getDirectory === 'function' ? 'opfs' : 'idb'),
  );
  const made = new ProjectLock({ locks: () => navigator.locks ?? null, link, clock: systemClock, uuid });
  followThePage(made);
  return made;
}

/** A page that comes back may have been displaced; one that goes for good spares others the wait if it can. */
function followThePage(lock: ProjectLock): void {
  addEventListener('pageshow', ({ persisted }) => persisted && lock.revalidate());
  addEventListener('pagehide', ({ persisted }) => persisted || lock.abandon());
  document.addEventListener('resume', () => lock.revalidate());
}

/** `crypto.randomUUID` is kept from insecure contexts; random bytes are not. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, at) => {
    const marked = at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
