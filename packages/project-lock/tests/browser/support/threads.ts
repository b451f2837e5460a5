// Which process draws a tab. No driver says, so the tab starts some workers, and the process that has so many threads more is
// the one. Processor time would tell as well, but not on a busy machine: there the tab gets little, and others work too.

import { readFileSync } from 'node:fs';

const WORKERS = 8;
/** So many more has the one that is looked for, even if some other threads of it end meanwhile. Another one may have them too,
 * because it is just being started: then it is asked again. */
const LEAST_MORE = WORKERS / 2;

/** Runs in the tab: starts workers and waits until all are there, or ends those that were started before. */
export async function startWorkers(count: number): Promise<void> {
  const tab = window as unknown as { extra?: Worker[] };
  for (const worker of tab.extra ?? []) worker.terminate();
  const source = URL.createObjectURL(new Blob(['postMessage("here")'], { type: 'text/javascript' }));
  tab.extra = Array.from({ length: count }, () => new Worker(source));
  await Promise.all(tab.extra.map((worker) => new Promise((here) => (worker.onmessage = here))));
  URL.revokeObjectURL(source);
}

/** How many threads a process has; none if it has ended. */
function threads(pid: number): number {
  try {
    return Number(/^Threads:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** `candidates`: the processes of the browser. `start`: does the above in the tab. */
export async function processOf(candidates: () => Promise<number[]>, start: (workers: number) => Promise<void>): Promise<number> {
  for (;;) {
    const before = new Map((await candidates()).map((pid) => [pid, threads(pid)]));
    await start(WORKERS);
    const grown = [...before].filter(([pid, had]) => threads(pid) - had >= LEAST_MORE);
    await start(0);
    const [found, ...others] = grown;
    if (found && others.length === 0) return found[0];
  }
}
