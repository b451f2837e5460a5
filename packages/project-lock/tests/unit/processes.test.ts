// How the tests of browsers find the process that they kill or stop: a wrong one would let the tab go on.

import { expect, it } from 'vitest';
import { processOf } from '../browser/support/threads.js';

/** A browser that keeps the threads of workers that have ended, as Firefox does, and one of whose tabs is looked for. */
class Browser {
  readonly threads: Map<number, number>;
  #running = 0;

  constructor(readonly tab: number, kept: [number, number][]) {
    this.threads = new Map(kept);
  }

  processOf(): Promise<number> {
    return processOf(
      async () => [...this.threads.keys()],
      async (workers) => {
        this.#running = workers === 0 ? 0 : this.#running + workers;
        this.threads.set(this.tab, Math.max(this.threads.get(this.tab) ?? 0, this.#running));
      },
      (pid) => this.threads.get(pid) ?? 0,
    );
  }
}

it.each([
  ['nobody has any', []],
  ['the tab has kept some', [[7, 20]]],
  ['another process has kept as many', [[6, 8]]],
  ['both have kept some', [[6, 20], [7, 20]]],
] as [string, [number, number][]][])('the process of a tab is found where %s', async (_name, kept) => {
  const browser = new Browser(7, [[5, 0], [7, 0], ...kept]);
  expect(await browser.processOf()).toBe(7);
  expect(await browser.processOf()).toBe(7);
});

it('no process is taken for that of a tab if none has its workers', async () => {
  await expect(processOf(async () => [5], async () => undefined, () => 1)).rejects.toThrow('8 workers');
});
