// Stopping the process of a tab that holds the project, at a moment in which it is in nobody's way.

import type { Told } from './tab.js';

/** How often in a row another tab has to find the record free: what the process asked for last may be granted after it was stopped. */
const PROBES = 2;

/**
 * A process that is stopped in the middle of a step, a beat say, keeps the others from the record for as long as it stands
 * still, and nobody can displace it. Whether it is can only be told once it is stopped: then another tab tries the record,
 * and if it does not get to it, the process goes on for a moment and is stopped again.
 */
export async function standStill(pid: number, tryOnce: () => Promise<Told>): Promise<void> {
  for (let free = 0; ; ) {
    process.kill(pid, 'SIGSTOP');
    const { error } = await tryOnce();
    if (!error) throw new Error('the lease was over before its holder stood still');
    free = error.cause === 'HELD' ? free + 1 : 0;
    if (free === PROBES) return;
    if (free === 0) process.kill(pid, 'SIGCONT');
  }
}

/**
 * What is told in the end: whoever is told that asking again may help asks again. Right after a process has woken on a busy
 * machine its worker may not answer in time. Nobody may be told yes in between.
 */
export async function lastAnswer(ask: () => Promise<Told>): Promise<Told> {
  for (;;) {
    const told = await ask();
    if (!told.error?.retryable) return told;
  }
}
