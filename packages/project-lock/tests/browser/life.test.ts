// Tabs that go away for good, in every way that tabs do, and what the others get: the project at once where the browser
// tells that the holder is gone, and after its lease where nobody can know.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium, ready, waiting } from './support/chromium.js';
import { rendererOf } from './support/processes.js';
import { files } from './support/storage.js';

let browser: Chromium;
beforeEach(async () => void (browser = await Chromium.start()));
afterEach(() => browser.stop());

/** Longer than any lease: whoever waits that long would wait for ever. */
const PATIENT = { maxWaitMs: 60_000, retryPolicy: { initialDelayMs: 50, maxDelayMs: 200, multiplier: 2, maxAttempts: Infinity } };
const acquire = (page: Page, options: object = PATIENT) => page.evaluate((options) => window.tab.acquire(options), options);
const types = (page: Page) => page.evaluate(() => window.tab.events.map(({ type }) => type));

async function takeTurns(leave: (holder: Page) => Promise<unknown>): Promise<void> {
  const [holder, next] = [await browser.tab(), await browser.tab()];
  await acquire(holder);
  const first = (await holder.evaluate(() => window.tab.renew(600_000))).lease;
  const acquired = acquire(next);
  await waiting(next, 1);
  await leave(holder);
  const { lease } = await acquired;
  expect(lease?.fence).toBeGreaterThan(first?.fence as number);
  // It did not have to wait for the lease to run out.
  expect((lease?.expiresAt ?? Infinity) - 15_000).toBeLessThan(first?.expiresAt as number);
  expect(await next.evaluate(() => window.tab.release())).toEqual({});
}

describe('the next tab gets the project at once from', () => {
  it('a tab that is closed', () => takeTurns((holder) => holder.close()));

  it('a tab whose renderer is killed', () =>
    takeTurns(async (holder) => {
      const gone = holder.waitForEvent('crash');
      process.kill(await rendererOf(holder), 'SIGKILL');
      await gone;
    }));

  it('a tab that is reloaded, which holds nothing afterwards', () =>
    takeTurns(async (holder) => {
      await holder.reload();
      await ready(holder);
      expect(await holder.evaluate(() => window.tab.isLost())).toBeNull();
    }));
});

describe('without Web Locks', () => {
  it('the lease of a tab whose renderer is killed runs out, and the next one has it', async () => {
    const [holder, next] = [await browser.tab(['locks']), await browser.tab(['locks'])];
    const pid = await rendererOf(holder);
    await acquire(holder);
    const shorter = (await holder.evaluate(() => window.tab.renew(3000))).lease;
    const gone = holder.waitForEvent('crash');
    process.kill(pid, 'SIGKILL');
    await gone;
    const { lease } = await acquire(next);
    expect((lease?.expiresAt ?? 0) - 15_000).toBeGreaterThanOrEqual(shorter?.expiresAt as number);
    expect(lease?.fence).toBeGreaterThan(shorter?.fence as number);
    expect(await types(next)).toContain('backoff');
  });

  it('a tab that is reloaded can have the project again', async () => {
    const tab = await browser.tab(['locks']);
    const first = (await acquire(tab)).lease;
    await tab.reload();
    await ready(tab);
    expect((await acquire(tab)).lease?.fence).toBeGreaterThan(first?.fence as number);
  });
});

it('an abort while waiting leaves nothing', async () => {
  const [holder, waiter] = [await browser.tab(), await browser.tab()];
  await acquire(holder);
  const before = (await files(holder))['project/.lock'];
  const code = waiter.evaluate(() => {
    const abort = new AbortController();
    Object.assign(window, { abort });
    return window.tab.acquire({ signal: abort.signal, maxWaitMs: 60_000 }).then(({ error }) => error?.code);
  });
  await waiter.waitForFunction(() => window.tab.events.some(({ type }) => type === 'backoff'));
  await waiter.evaluate(() => (window as unknown as { abort: AbortController }).abort.abort());
  expect(await code).toBe('web-lock-aborted');
  expect(await waiter.evaluate(async () => (await navigator.locks.query()).pending)).toEqual([]);
  expect((await types(waiter)).at(-1)).toBe('acquire-failed');
  expect((await files(holder))['project/.lock']).toBe(before);
  expect(await holder.evaluate(() => window.tab.release())).toEqual({});
  expect(Object.keys(await files(holder))).toEqual(['project/.lock.fence']);
});
