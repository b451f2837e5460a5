// Waiting that can be cut short: by time, by an abort, or by something that happens. It leaves no timer and no listener
// behind, however it ends.

import type { Clock } from './clock.js';

/** Resolves when the first of them is there, `null` being never; an abort is for the caller to look at. */
export function wait(clock: Clock, ms: number | null, signal: AbortSignal | undefined, wake?: Promise<void>): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = ms === null ? () => undefined : clock.after(ms, end);
    signal?.addEventListener('abort', end);
    void wake?.then(end);
  });
}
