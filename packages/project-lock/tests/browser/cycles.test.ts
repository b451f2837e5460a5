// A thousand times acquired and released, and turns taken by many tabs: nothing piles up, and nobody overlaps.

import { readdir, readlink } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium, type Lack } from './support/chromium.js';
import { files, rows } from './support/storage.js';

const CYCLES = 1000;
const [TABS, TURNS] = [4, 15];

let browser: Chromium;
beforeEach(async () => void (browser = await Chromium.start()));
afterEach(() => browser.stop());

/** Files of the profile's storage that any process has open. */
async function openFiles(profile: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const folder = `/proc/${pid}/fd`;
    for (const fd of await readdir(folder).catch(() => [])) {
      const path = await readlink(`${folder}/${fd}`).catch(() => '');
      if (path.startsWith(`${profile}/`) && path.includes('/File System/') && /\/\d{2}\/\d+$/.test(path)) found.push(path);
    }
  }
  return found;
}

/** What is closed is closed a moment after the answer; what leaks stays. */
const noOpenFiles = (profile: string) => expect.poll(() => openFiles(profile), { timeout: 60_000 }).toEqual([]);

async function listeners(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  return metrics.find(({ name }) => name === 'JSEventListeners')?.value ?? NaN;
}

const cycle = (page: Page, cycles: number) =>
  page.evaluate(async (cycles) => {
    const { lock } = window.tab;
    // One signal for all of them: a listener that stays on it would be counted a thousand times.
    const { signal } = (Object.assign(window, { abort: new AbortController() }) as unknown as { abort: AbortController }).abort;
    const fences = new Set<number | undefined>();
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      await lock.withProjectLock({ signal }, async ({ fence }) => void fences.add(fence));
    }
    window.tab.events.length = 0;
    return fences.size;
  }, cycles);

describe.each([
  ['on Web Locks and OPFS', []],
  ['on IndexedDB alone', ['locks', 'opfs']],
] as [string, Lack[]][])('%s', (_name, lacks) => {
  it(`${CYCLES} cycles leave no handle, no listener and no record`, async () => {
    const tab = await browser.tab(lacks);
    await cycle(tab, 3);
    const before = await listeners(tab);
    expect(await cycle(tab, CYCLES)).toBe(CYCLES);
    expect(await listeners(tab)).toBeLessThanOrEqual(before);
    expect(await tab.evaluate(() => (window as unknown as { abort: AbortController }).abort.abort())).toBeUndefined();
    await noOpenFiles(browser.profile);
    expect(tab.workers().length).toBe(1);
    if (lacks.length > 0) return expect(Object.keys(await rows(tab))).toEqual(['.lock.fence']);
    expect(Object.keys(await files(tab))).toEqual(['project/.lock.fence']);
    expect(await tab.evaluate(async () => (await navigator.locks.query()).held)).toEqual([]);
  });
});

it('a tab that holds the project keeps no file open', async () => {
  const tab = await browser.tab();
  expect((await tab.evaluate(() => window.tab.acquire())).error).toBeUndefined();
  await noOpenFiles(browser.profile);
  expect(Object.keys(await files(tab)).sort()).toEqual(['project/.lock', 'project/.lock.fence']);
});

describe.each([
  ['Web Locks', [[]]],
  ['OPFS alone', [['locks']]],
  ['IndexedDB alone', [['locks', 'opfs']]],
  ['a mix', [[], ['locks']]],
] as [string, Lack[][]][])('tabs that wait for each other on %s', (_name, lacks) => {
  it('each have all their turns, and no two at once', async () => {
    const tabs = await Promise.all(Array.from({ length: TABS }, (_, at) => browser.tab(lacks[at % lacks.length])));
    const done = tabs.map((tab) =>
      tab.evaluate(async (turns) => {
        const retryPolicy = { initialDelayMs: 5, maxDelayMs: 20, multiplier: 2, maxAttempts: Infinity };
        for (let turn = 0; turn < turns; turn += 1) {
          // Read, wait, write: two at once would lose one of their counts.
          await window.tab.lock.withProjectLock({ maxWaitMs: 120_000, retryPolicy }, async () => {
            const count = await window.count();
            await new Promise((painted) => setTimeout(painted, 1));
            await window.count(count + 1);
          });
        }
      }, TURNS),
    );
    await Promise.all(done);
    expect(await tabs[0]?.evaluate(() => window.count())).toBe(TABS * TURNS);
  });
});
