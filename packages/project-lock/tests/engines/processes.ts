// The processes of a browser, and the one of them that draws a tab.

import { readdirSync, readFileSync } from 'node:fs';
import { processOf as grownProcess, startWorkers } from '../browser/support/threads.js';
import type { Engine, Tab } from './engine.js';

interface Process {
  readonly pid: number;
  readonly parent: number;
}

function processes(): Process[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.flatMap((name) => {
    try {
      const [state, parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? [];
      // One that has ended, and nobody has asked how, is none.
      return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent) }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/** Everything that descends from this process, without itself. */
export function descendants(root: number): number[] {
  const all = processes();
  const found = new Set([root]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return [...found];
}

export function processOf(engine: Engine, tab: Tab): Promise<number> {
  return grownProcess(async () => descendants(engine.pid), (workers) => tab.evaluate(startWorkers, workers));
}
