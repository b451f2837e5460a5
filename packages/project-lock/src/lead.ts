// One tab of many that does what one is enough for: waits, for as long as it takes, until it is this one.

import { projectLock } from './browser.js';
import { ProjectLockError } from './errors.js';
import type { NamedProjectLock, ProjectLockLease } from './types.js';

const PAUSE_MS = 1000;

/** Resolves when this tab leads. It does until it releases the lease or the lease's signal aborts; then call it again. */
export async function awaitLeadership(
  { signal }: { readonly signal?: AbortSignal } = {},
  lock: NamedProjectLock = projectLock(),
): Promise<ProjectLockLease> {
  for (;;) {
    try {
      const { lease } = await lock.acquire({ maxWaitMs: Infinity, ...(signal && { signal }) });
      return lease;
    } catch (error) {
      if (!(error instanceof ProjectLockError && error.retryable)) throw error;
    }
    await new Promise((wake) => setTimeout(wake, PAUSE_MS));
  }
}
