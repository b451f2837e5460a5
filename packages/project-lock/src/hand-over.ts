// A tab asks the one that holds the project to give it back, and that one may do so when it has saved. Nothing is taken away:
// who does not listen, or does not want to, keeps the project.

import { projectLock } from './browser.js';
import type { NamedProjectLock, ProjectLockAcquireOptions, ProjectLockLease, ProjectLockSubscription } from './types.js';

const ASK_AGAIN_MS = 1000;
const channelOf = (lock: NamedProjectLock) => new BroadcastChannel(`holdfast:hand-over:${lock.name}`);

/** Acquires the project, and asks its holder to give it back meanwhile. */
export async function requestHandOver(
  options?: ProjectLockAcquireOptions,
  lock: NamedProjectLock = projectLock(),
): Promise<{ lease: ProjectLockLease; didFallback: boolean }> {
  const channel = channelOf(lock);
  const ask = () => channel.postMessage('request');
  const timer = setInterval(ask, ASK_AGAIN_MS);
  try {
    const acquired = lock.acquire(options);
    ask();
    return await acquired;
  } finally {
    clearInterval(timer);
    channel.close();
  }
}

/** Calls `giveBack` when another tab asks for the project that this one holds: it saves, and releases the lease. It is not
 * called again before it has come to its end. */
export function offerHandOver(giveBack: () => Promise<void>, lock: NamedProjectLock = projectLock()): ProjectLockSubscription {
  const channel = channelOf(lock);
  let busy = false;
  channel.onmessage = async () => {
    if (busy || !lock.isHolder()) return;
    busy = true;
    try {
      await giveBack();
    } catch (error) {
      globalThis.reportError?.(error);
    } finally {
      busy = false;
    }
  };
  return { unsubscribe: () => channel.close() };
}
