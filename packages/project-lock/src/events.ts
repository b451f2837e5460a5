// Tells listeners what happens to the lock. A listener that throws is reported like any uncaught error, and neither the
// lock nor another listener notices.

import type { ProjectLockEvent, ProjectLockEventListener, ProjectLockSubscription } from './types.js';

export class Events {
  readonly #listeners = new Map<object, ProjectLockEventListener>();

  subscribe(listener: ProjectLockEventListener): ProjectLockSubscription {
    // The same function may be subscribed twice, so it is not its own key.
    const key = { unsubscribe: () => void this.#listeners.delete(key) };
    this.#listeners.set(key, listener);
    return key;
  }

  emit(event: ProjectLockEvent): void {
    for (const listener of [...this.#listeners.values()]) {
      try {
        listener(event);
      } catch (error) {
        globalThis.reportError?.(error);
      }
    }
  }
}
