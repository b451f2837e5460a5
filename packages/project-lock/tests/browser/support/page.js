// What a tab of the tests runs: the built package as a browser loads it, without a bundler, and a note of what it tells.

import * as lock from '../../../dist/index.js';

const events = [];
lock.subscribeLockEvents((event) => {
  const { type, error, attempt, delayMs, lease } = event;
  events.push({ type, code: error?.code, attempt, delayMs, leaseId: lease?.leaseId });
});

/** What went wrong, in a form that can leave the page. */
const told = (error) => {
  const { code = error.name, retryable, message, cause } = error;
  return { code, retryable, message: String(message), cause: String(cause) };
};

/** The lease that this tab holds. */
let held = null;

/** A number that all tabs share, read or written: what two of them would spoil for each other. */
window.count = (put) =>
  new Promise((resolve, reject) => {
    const opening = indexedDB.open('shared', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('numbers');
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('numbers', 'readwrite');
      const table = transaction.objectStore('numbers');
      const asked = put === undefined ? table.get('count') : table.put(put, 'count');
      transaction.oncomplete = () => {
        opening.result.close();
        resolve(put ?? asked.result ?? 0);
      };
    };
  });

window.tab = {
  events,
  lock,
  async acquire(options) {
    try {
      const { lease, didFallback } = await lock.acquireProjectLock(options);
      held = lease;
      return { lease: { ...lease }, didFallback };
    } catch (error) {
      return { error: told(error) };
    }
  },
  async renew(extendByMs) {
    try {
      held = await lock.renewProjectLock({ lease: held, extendByMs });
      return { lease: { ...held } };
    } catch (error) {
      return { error: told(error) };
    }
  },
  async release() {
    try {
      await lock.releaseProjectLock({ lease: held });
      return {};
    } catch (error) {
      return { error: told(error) };
    }
  },
  isLost: () => held?.signal.aborted ?? null,
};
