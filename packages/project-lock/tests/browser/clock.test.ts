// The wall clock is set while tabs run, in a real Chromium: the workers are served with a line in front that shifts their
// `Date`, and a message sets it in all of them at once.

import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium, type Lack } from './support/chromium.js';

const HOUR_MS = 3_600_000;
const SHIFTED = `
const now = Date.now;
let shift = 0;
const clock = new BroadcastChannel('clock');
clock.onmessage = ({ data }) => {
  if (typeof data !== 'number') return;
  shift = data;
  clock.postMessage('set');
};
Date.now = () => now() + shift;
`;

let browser: Chromium;
beforeEach(async () => {
  browser = await Chromium.start();
  await browser.context.route('**/dist/guard.js', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: SHIFTED + (await response.text()) });
  });
});
afterEach(() => browser.stop());

/** Sets the clock of all workers, and waits until so many have done it. */
const set = (page: Page, ms: number, workers: number) =>
  page.evaluate(
    ([ms, workers]) =>
      new Promise<void>((done) => {
        const clock = new BroadcastChannel('clock');
        let answers = 0;
        clock.onmessage = () => {
          answers += 1;
          if (answers === workers) done();
        };
        clock.postMessage(ms);
      }),
    [ms, workers] as const,
  );

it.each([
  [HOUR_MS, []],
  [-2 * HOUR_MS, []],
  [2 * HOUR_MS, ['locks']],
  [-2 * HOUR_MS, ['locks']],
] as [number, Lack[]][])('set by %s ms, without %j: one holder, and it keeps its lease', async (ms, lacks) => {
  const [holder, waits] = [await browser.tab(lacks), await browser.tab(lacks)];
  // The worker of the tab that waits is started too.
  expect((await waits.evaluate(() => window.tab.acquire())).error).toBeUndefined();
  expect(await waits.evaluate(() => window.tab.release())).toEqual({});
  expect((await holder.evaluate(() => window.tab.acquire())).error).toBeUndefined();
  await set(holder, ms, 2);
  const retryPolicy = { initialDelayMs: 50, maxDelayMs: 50, multiplier: 1, maxAttempts: Infinity };
  const refused = waits.evaluate((retryPolicy) => window.tab.acquire({ maxWaitMs: 6000, retryPolicy }), retryPolicy);
  expect(await refused).toMatchObject({ error: { code: 'web-lock-unavailable' } });
  expect(await holder.evaluate(() => window.tab.isLost())).toBe(false);
  expect(await holder.evaluate(() => window.tab.release())).toEqual({});
  expect((await waits.evaluate(() => window.tab.acquire())).error).toBeUndefined();
});
