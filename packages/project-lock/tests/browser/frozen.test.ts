// Tabs that stand still and come back: stopped processes and pages in the back/forward cache. Nobody can tell them from
// slow ones, so they are displaced when their lease has run out, and they are the first whom it is told.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium, ready, waiting } from './support/chromium.js';
import { rendererOf } from './support/processes.js';
import { lastAnswer, standStill } from './support/still.js';
import { files } from './support/storage.js';
import type { Told } from './support/tab.js';

let browser: Chromium;
beforeEach(async () => void (browser = await Chromium.start()));
afterEach(() => browser.stop());

const PATIENT = { maxWaitMs: 60_000, retryPolicy: { initialDelayMs: 50, maxDelayMs: 200, multiplier: 2, maxAttempts: Infinity } };
const acquire = (page: Page, options: object = PATIENT) => page.evaluate((options) => window.tab.acquire(options), options);
const types = (page: Page) => page.evaluate(() => window.tab.events.map(({ type }) => type));

/** In front of the worker: a step takes a good part of the time between two beats, and is told of when it begins to write. */
const SLOW_WRITES = `{
  const channel = new BroadcastChannel('writes');
  const { write } = FileSystemSyncAccessHandle.prototype;
  FileSystemSyncAccessHandle.prototype.write = function (...words) {
    channel.postMessage('begun');
    for (const start = performance.now(); performance.now() - start < 300; );
    return write.apply(this, words);
  };
}
`;

/** Leaves the page; it stays in the cache. */
async function leave(page: Page): Promise<void> {
  await page.evaluate(() => addEventListener('pageshow', ({ persisted }) => Object.assign(window, { persisted })));
  await page.goto(browser.url('/tests/browser/support/elsewhere.html'));
}

/** Comes back, and says whether the page is as it was left: the browser may have dropped it when another tab asked. */
async function comeBack(page: Page): Promise<boolean> {
  await page.goBack({ waitUntil: 'commit' });
  await ready(page);
  return page.evaluate(() => (window as unknown as { persisted?: boolean }).persisted === true);
}

describe.each([
  ['on Web Locks', []],
  ['on the record', ['locks']],
] as const)('a renderer that stands still %s', (_name, lacks) => {
  it('is displaced after its lease, and refused when it wakes', async () => {
    const [holder, next] = [await browser.tab(lacks), await browser.tab(lacks)];
    const pid = await rendererOf(holder);
    await acquire(holder);
    const frozen = (await holder.evaluate(() => window.tab.renew(8000))).lease;
    try {
      await standStill(pid, () => acquire(next, { maxWaitMs: 0 }));
      const { lease, didFallback } = await acquire(next);
      expect(didFallback).toBe(true);
      expect((lease?.expiresAt ?? 0) - 15_000).toBeGreaterThanOrEqual(frozen?.expiresAt as number);
      expect(lease?.fence).toBeGreaterThan(frozen?.fence as number);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const renewed = await lastAnswer(() => holder.evaluate(() => window.tab.renew()));
    expect(renewed).toMatchObject({ error: { code: 'lease-expired', retryable: false } });
    expect(await holder.evaluate(() => window.tab.isLost())).toBe(true);
    expect((await types(holder)).filter((type) => type === 'expired')).toEqual(['expired']);
    expect(await holder.evaluate(() => window.tab.release())).toMatchObject({ error: { code: 'lease-expired' } });
    // The one that displaced it has not noticed anything, and gives back what is still its own.
    expect(await next.evaluate(() => window.tab.isLost())).toBe(false);
    expect(await next.evaluate(() => window.tab.release())).toEqual({});
  });
});

it('a renderer that is stopped in the middle of a beat is not left there by the tests', async () => {
  await browser.context.route('**/dist/guard.js', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: SLOW_WRITES + (await response.text()) });
  });
  const [holder, next] = [await browser.tab(['locks']), await browser.tab(['locks'])];
  const pid = await rendererOf(holder);
  expect((await acquire(holder)).error).toBeUndefined();
  await holder.evaluate(() => window.tab.renew(8000));
  await holder.evaluate(() => new Promise<void>((begun) => (new BroadcastChannel('writes').onmessage = () => begun())));
  try {
    await standStill(pid, () => acquire(next, { maxWaitMs: 0 }));
    expect((await acquire(next)).error).toBeUndefined();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
});

it('a page that is too busy for its own timers keeps the project: its worker beats', async () => {
  const [holder, next] = [await browser.tab(['locks']), await browser.tab(['locks'])];
  await acquire(holder);
  await holder.evaluate(() => window.tab.renew(5000));
  const busy = holder.evaluate(() => {
    for (const start = performance.now(); performance.now() - start < 9000; );
    return window.tab.isLost();
  });
  expect(await acquire(next, { maxWaitMs: 8000 })).toMatchObject({ error: { code: 'web-lock-unavailable' } });
  expect(await busy).toBe(false);
  expect(await holder.evaluate(() => window.tab.release())).toEqual({});
});

it('a page that the browser freezes while it waits leaves the queue, and lines up again when it goes on', async () => {
  const [holder, waiter] = [await browser.tab(), await browser.tab()];
  await acquire(holder);
  const acquired = acquire(waiter);
  await waiting(holder, 1);
  // A browser that is driven freezes no page, so the page is told what it would be told.
  const tell = (type: string) => waiter.evaluate((type) => void document.dispatchEvent(new Event(type)), type);
  await tell('freeze');
  await waiting(holder, 0);
  await tell('resume');
  await waiting(holder, 1);
  expect(await holder.evaluate(() => window.tab.release())).toEqual({});
  expect(await acquired).toMatchObject({ didFallback: false });
});

describe('a page in the back/forward cache', () => {
  it('that comes back after it was displaced learns it at once', async () => {
    const [holder, next] = [await browser.tab(['locks']), await browser.tab(['locks'])];
    await acquire(holder);
    const cached = (await holder.evaluate(() => window.tab.renew(3000))).lease;
    await leave(holder);
    const { lease } = await acquire(next);
    expect((lease?.expiresAt ?? 0) - 15_000).toBeGreaterThanOrEqual(cached?.expiresAt as number);
    expect(await comeBack(holder)).toBe(true);
    await holder.waitForFunction(() => window.tab.isLost() === true);
    expect((await types(holder)).at(-1)).toBe('expired');
    expect((await files(next))['project/.lock']).toContain(lease?.leaseId);
    expect(await next.evaluate(() => window.tab.release())).toEqual({});
  });

  it('with the Web Lock does not hold the project together with another', async () => {
    const [holder, next] = [await browser.tab(), await browser.tab()];
    const cached = (await acquire(holder)).lease;
    await leave(holder);
    const { lease } = await acquire(next);
    expect(lease?.fence).toBeGreaterThan(cached?.fence as number);
    if (await comeBack(holder)) await holder.waitForFunction(() => window.tab.isLost() === true);
    else expect(await holder.evaluate(() => window.tab.isLost())).toBeNull();
    expect(await acquire(holder, { maxWaitMs: 0 })).toMatchObject({ error: { code: 'web-lock-unavailable' } });
    expect(await next.evaluate(() => window.tab.release())).toEqual({});
  });

  it('that waited is in nobody\'s way, and goes on waiting when it comes back', async () => {
    const [holder, waiter, next] = [await browser.tab(), await browser.tab(), await browser.tab()];
    await acquire(holder);
    await waiter.evaluate((options) => {
      void window.tab.acquire(options).then((got) => Object.assign(window, { got }));
    }, PATIENT);
    await waiting(holder, 1);
    await leave(waiter);
    await waiting(holder, 0);
    const acquired = acquire(next);
    await waiting(holder, 1);
    expect(await holder.evaluate(() => window.tab.release())).toEqual({});
    const first = (await acquired).lease;
    expect(await comeBack(waiter)).toBe(true);
    await waiting(next, 1);
    expect(await next.evaluate(() => window.tab.release())).toEqual({});
    await waiter.waitForFunction(() => 'got' in window);
    const { lease } = await waiter.evaluate(() => (window as unknown as { got: Told }).got);
    expect(lease?.fence).toBeGreaterThan(first?.fence as number);
    expect(await waiter.evaluate(() => window.tab.release())).toEqual({});
  });

  it.each([
    ['with Web Locks', []],
    ['without Web Locks', ['locks']],
  ] as const)('that comes back in time still holds the project, %s', async (_name, lacks) => {
    const [holder, next] = [await browser.tab(lacks), await browser.tab(lacks)];
    const { lease } = await acquire(holder);
    await holder.evaluate(() => window.tab.renew(60_000));
    const beats = (await types(holder)).length;
    await leave(holder);
    expect(await comeBack(holder)).toBe(true);
    await holder.waitForFunction((beats) => window.tab.events.length > beats, beats);
    expect((await types(holder)).at(-1)).toBe('renewed');
    expect(await holder.evaluate(() => window.tab.isLost())).toBe(false);
    expect((await files(next))['project/.lock']).toContain(lease?.leaseId);
    expect(await acquire(next, { maxWaitMs: 0 })).toMatchObject({ error: { code: 'web-lock-unavailable' } });
    expect(await holder.evaluate(() => window.tab.release())).toEqual({});
  });
});
