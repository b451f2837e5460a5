// Which process draws a tab. No driver says, so the tab starts some workers, and the only process that has so many threads of
// workers is the one. Processor time would tell as well, but not on a busy machine: there the tab gets little, and others work
// too. More threads than a moment ago tell nothing either: a process that is just being started has those, and the one that is
// looked for may have none, because browsers keep the threads of workers that have ended for the next ones.

import { readdirSync, readFileSync } from 'node:fs';

const WORKERS = 8;

/** Runs in the tab: starts so many workers more and waits until all are there; with none, ends all of them. */
export async function startWorkers(count: number): Promise<void> {
  const tab = window as unknown as { extra?: Worker[] };
  if (count === 0) for (const worker of tab.extra?.splice(0) ?? []) worker.terminate();
  const source = URL.createObjectURL(new Blob(['postMessage("here")'], { type: 'text/javascript' }));
  const more = Array.from({ length: count }, () => new Worker(source));
  tab.extra = [...(tab.extra ?? []), ...more];
  await Promise.all(more.map((worker) => new Promise((here) => (worker.onmessage = here))));
  URL.revokeObjectURL(source);
}

/** How many threads of workers a process has, whether they are at work or kept for the next ones; none if it has ended. */
function workersOf(pid: number): number {
  const name = (thread: string): string => {
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8');
    } catch {
      return '';
    }
  };
  try {
    // "DOM Worker" in Firefox, "DedicatedWorker" in Chromium, "WebCore: Worker" in WebKit.
    return readdirSync(`/proc/${pid}/task`).filter((thread) => /Worker\n?$/.test(name(thread))).length;
  } catch {
    return 0;
  }
}

/** `candidates`: the processes of the browser. `start`: does the above in the tab. */
export async function processOf(
  candidates: () => Promise<number[]>,
  start: (workers: number) => Promise<void>,
  workers: (pid: number) => number = workersOf,
): Promise<number> {
  for (let running = WORKERS; ; running += WORKERS) {
    await start(WORKERS);
    const found = (await candidates()).filter((pid) => workers(pid) >= running);
    if (found.length === 0) throw new Error(`no process of the browser has the threads of ${running} workers`);
    // Another one has kept as many for its next ones: with some more it is told apart.
    if (found.length > 1) continue;
    await start(0);
    return found[0] as number;
  }
}
