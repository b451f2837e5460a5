// The locks of this page, wired to the real browser: which parts it has is found out here, by looking for them. Nothing
// happens before the first call.

import { systemClock } from './clock.js';
import { WorkerLink, type Host } from './link.js';
import { ProjectLock } from './lock.js';
import type { ProjectLockSetup } from './types.js';

/** What all copies of this package in a page share. */
interface Shared {
  readonly locks: Map<string, ProjectLock>;
  link?: WorkerLink;
  setup: ProjectLockSetup;
}

/** Raised when what is shared changes its form: then two copies do not understand each other. */
const KEY = Symbol.for('@holdfast/project-lock 1');
const shared = ((globalThis as Record<symbol, unknown>)[KEY] ??= { locks: new Map(), setup: {} }) as Shared;

/** One for each page and name: a tab must recognise its own lease, whichever copy of this package asks. */
export function projectLock(name = ''): ProjectLock {
  const found = shared.locks.get(name) ?? open(name);
  shared.locks.set(name, found);
  return found;
}

/** How the worker is started, from the next start on. */
export function setUp(setup: ProjectLockSetup): void {
  shared.setup = { ...shared.setup, ...setup };
}

function open(name: string): ProjectLock {
  const link = (shared.link ??= new WorkerLink(
    startWorker,
    async () => (await import('./inline.js')).inPlace(),
    () => (typeof globalThis.navigator?.storage?.getDirectory === 'function' ? 'opfs' : 'idb'),
    systemClock,
  )).to(name);
  const made = new ProjectLock({ locks: () => globalThis.navigator?.locks ?? null, link, clock: systemClock, uuid, name });
  followThePage(made);
  return made;
}

function startWorker(): Host {
  const { workerUrl, createWorker } = shared.setup;
  if (createWorker) return createWorker();
  // Bundlers look for exactly this expression.
  if (!workerUrl) return new Worker(new URL('./guard.js', import.meta.url), { type: 'module' });
  return new Worker(workerUrl as URL, { type: 'module' });
}

/** A page that comes back may have been displaced; one that goes, for good or into the cache, spares others the wait. Workers
 * have no such events, and neither has Node. */
function followThePage(lock: ProjectLock): void {
  const page = globalThis.document;
  if (!page) return;
  addEventListener('pageshow', ({ persisted }) => persisted && lock.resume());
  addEventListener('pagehide', ({ persisted }) => (persisted ? lock.pause() : lock.abandon()));
  page.addEventListener('freeze', () => lock.pause());
  page.addEventListener('resume', () => lock.resume());
}

/** `crypto.randomUUID` is kept from insecure contexts; random bytes are not. */
function uuid(): string {
  return '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) => {
    const [random = 0] = crypto.getRandomValues(new Uint8Array(1));
    // An 8 stands for two random bits, the others for four.
    return (+digit ^ (random & (15 >> (+digit / 4)))).toString(16);
  });
}
