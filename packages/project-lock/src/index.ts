// The public surface: names and their types. What they do is in `lock.ts`.

import { projectLock, setUp } from './browser.js';
import type {
  NamedProjectLock,
  ProjectLockAcquireOptions,
  ProjectLockEventListener,
  ProjectLockLease,
  ProjectLockReleaseOptions,
  ProjectLockRenewOptions,
  ProjectLockSetup,
  ProjectLockSubscription,
} from './types.js';

export { onChange } from './change.js';
export { ProjectLockError } from './errors.js';
export { offerHandOver, requestHandOver } from './hand-over.js';
export { awaitLeadership } from './lead.js';
export { isHolder, whoHolds } from './who.js';
export type * from './types.js';

/** Takes the project for this tab, or says why not. Beats keep the lease until it is released or lost. */
export async function acquireProjectLock(options?: ProjectLockAcquireOptions): Promise<{
  lease: ProjectLockLease;
  didFallback: boolean;
}> {
  return projectLock().acquire(options);
}

/** Sets the end of the lease to so many milliseconds from now. */
export async function renewProjectLock(options: ProjectLockRenewOptions): Promise<ProjectLockLease> {
  return projectLock().renew(options);
}

/** Gives the lease back. A lease that was lost before is reported as `lease-expired`. */
export async function releaseProjectLock(options: ProjectLockReleaseOptions): Promise<void> {
  return projectLock().release(options);
}

/** Runs the work while this tab holds the project, and gives it back however the work ends. */
export async function withProjectLock<T>(
  options: ProjectLockAcquireOptions | undefined,
  work: (lease: ProjectLockLease) => Promise<T>,
): Promise<T> {
  return projectLock().with(options, work);
}

/** Tells the listener everything that happens to this tab's lock, until it is unsubscribed. */
export function subscribeLockEvents(listener: ProjectLockEventListener): ProjectLockSubscription {
  return projectLock().events.subscribe(listener);
}

/** In bytes, percent-encoded: what a file system takes has to have room for it. */
const LONGEST_NAME = 150;

/** The lock of a project with a name of its own; the same one whenever it is asked for. */
export function createProjectLock({ name, ...setup }: ProjectLockSetup = {}): NamedProjectLock {
  if (name === '' || encodeURIComponent(name ?? '').length > LONGEST_NAME) {
    throw new RangeError(`name must have 1 to ${LONGEST_NAME} bytes, percent-encoded`);
  }
  setUp(setup);
  return projectLock(name);
}
