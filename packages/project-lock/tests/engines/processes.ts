// Which process draws a tab. No driver says, so the tab is made to work for a moment, and the process whose processor time grows
// is the one.

import { readdirSync, readFileSync } from 'node:fs';
import type { Engine, Tab } from './engine.js';

/** Long enough for the clock of the kernel, which counts processor time in hundredths of a second; and for a machine that has
 * little of it to give. */
const [SHORTEST_MS, LONGEST_MS] = [200, 6400];
const LEAST_TICKS = 5;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

function processes(): Process[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.flatMap((name) => {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? [];
      // It has ended, and nobody has asked how.
      if (fields[0] === 'Z') return [];
      return [{ pid: Number(name), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/** Everything that descends from this process, without itself. */
export function descendants(root: number): Process[] {
  const all = processes();
  const found = new Set([root]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => pid !== root && found.has(pid));
}

/** The process whose processor time grows most while the tab works, if there is no doubt. */
async function busiest(engine: Engine, tab: Tab, busyMs: number): Promise<number | undefined> {
  const before = new Map(descendants(engine.pid).map(({ pid, ticks }) => [pid, ticks]));
  await tab.evaluate((ms) => {
    for (const start = performance.now(); performance.now() - start < ms; );
  }, busyMs);
  const [first, second] = descendants(engine.pid)
    .map(({ pid, ticks }) => ({ pid, worked: ticks - (before.get(pid) ?? 0) }))
    .sort((a, b) => b.worked - a.worked);
  return first && first.worked >= LEAST_TICKS && first.worked > 2 * (second?.worked ?? 0) ? first.pid : undefined;
}

/** Asked until the answer is the same twice: another process may have had something to do for a moment. */
export async function processOf(engine: Engine, tab: Tab): Promise<number> {
  let [last, busyMs]: [number | undefined, number] = [undefined, SHORTEST_MS];
  for (;;) {
    const found = await busiest(engine, tab, busyMs);
    if (found !== undefined && found === last) return found;
    if (found === undefined) busyMs = Math.min(2 * busyMs, LONGEST_MS);
    last = found;
  }
}
