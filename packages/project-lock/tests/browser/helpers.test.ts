// The helpers beside the lock, in real tabs: who holds the project, being told of it, leading, and handing over.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium, waiting } from './support/chromium.js';
import { rendererOf } from './support/processes.js';
import { files } from './support/storage.js';

let browser: Chromium;
beforeEach(async () => void (browser = await Chromium.start()));
afterEach(() => browser.stop());

const acquire = (page: Page, options = {}) => page.evaluate((options) => window.tab.acquire(options), options);
const release = (page: Page) => page.evaluate(() => window.tab.release());
const whoHolds = (page: Page) => page.evaluate(() => window.tab.lock.whoHolds());

describe.each([
  ['in OPFS', []],
  ['in IndexedDB', ['opfs']],
] as const)('whoHolds, %s', (_name, lacks) => {
  it('finds the lease of this tab and of another, and makes nothing', async () => {
    const [holder, other] = [await browser.tab(lacks), await browser.tab(lacks)];
    expect(await whoHolds(other)).toBeNull();
    expect(await other.evaluate(async () => (await indexedDB.databases()).length)).toBe(0);
    if (lacks.length === 0) expect(await files(other)).toEqual({});
    const { lease } = await acquire(holder);
    expect(await whoHolds(holder)).toMatchObject({ leaseId: lease?.leaseId, isMine: true });
    expect(await whoHolds(other)).toMatchObject({ leaseId: lease?.leaseId, isMine: false });
    expect(await Promise.all([holder, other].map((tab) => tab.evaluate(() => window.tab.lock.isHolder())))).toEqual([true, false]);
    expect(await release(holder)).toEqual({});
    expect(await whoHolds(other)).toBeNull();
    expect(await holder.evaluate(() => window.tab.lock.isHolder())).toBe(false);
  });
});

it('onChange tells who has the project, also if its tab was killed', async () => {
  const [holder, watcher] = [await browser.tab(), await browser.tab()];
  const pid = await rendererOf(holder);
  await watcher.evaluate(() => {
    const seen: (string | null)[] = [];
    const { unsubscribe } = window.tab.lock.onChange((lease) => seen.push(lease?.leaseId ?? null));
    Object.assign(window, { seen, unsubscribe });
  });
  const seen = () => watcher.evaluate(() => (window as unknown as { seen: (string | null)[] }).seen);
  await expect.poll(seen).toEqual([null]);
  const first = (await acquire(holder)).lease?.leaseId;
  await expect.poll(seen, { timeout: 60_000 }).toEqual([null, first]);
  expect(await release(holder)).toEqual({});
  await expect.poll(seen, { timeout: 60_000 }).toEqual([null, first, null]);
  const second = (await acquire(holder)).lease?.leaseId;
  await expect.poll(seen, { timeout: 60_000 }).toEqual([null, first, null, second]);
  process.kill(pid, 'SIGKILL');
  const third = (await acquire(watcher, { maxWaitMs: 60_000 })).lease?.leaseId;
  await expect.poll(async () => (await seen()).at(-1), { timeout: 60_000 }).toBe(third);
  const before = await watcher.evaluate(() => {
    (window as unknown as { unsubscribe(): void }).unsubscribe();
    return (window as unknown as { seen: unknown[] }).seen.length;
  });
  expect(await release(watcher)).toEqual({});
  expect((await seen()).length).toBe(before);
});

it('awaitLeadership: one tab leads, and when it goes the next one does', async () => {
  const tabs = [await browser.tab(), await browser.tab(), await browser.tab()];
  const lead = (tab: Page) =>
    tab.evaluate(() => void window.tab.lock.awaitLeadership().then(({ fence }) => Object.assign(window, { leads: fence })));
  const leaders = async (among: Page[]) =>
    (await Promise.all(among.map((tab) => tab.evaluate(() => (window as { leads?: number }).leads ?? 0)))).filter(Boolean);
  for (const tab of tabs) await lead(tab);
  await expect.poll(() => leaders(tabs), { timeout: 60_000 }).toHaveLength(1);
  let last = 0;
  for (let left = tabs; left.length > 0; ) {
    const [fence] = await leaders(left);
    expect(fence).toBeGreaterThan(last);
    last = fence as number;
    const at = await Promise.all(left.map((tab) => tab.evaluate(() => 'leads' in window)));
    await left[at.indexOf(true)]?.close();
    left = left.filter((_, index) => !at[index]);
    if (left.length > 0) await expect.poll(() => leaders(left), { timeout: 60_000 }).toHaveLength(1);
  }
});

it('awaitLeadership ends with its signal, and leaves nothing', async () => {
  const [holder, waits] = [await browser.tab(), await browser.tab()];
  await acquire(holder);
  const code = await waits.evaluate(async () => {
    const abort = new AbortController();
    const led = window.tab.lock.awaitLeadership({ signal: abort.signal }).catch((error) => error.code);
    abort.abort();
    return led;
  });
  expect(code).toBe('web-lock-aborted');
  await waiting(waits, 0);
});

describe('a hand-over', () => {
  const request = (page: Page, maxWaitMs: number) =>
    page.evaluate(
      (maxWaitMs) =>
        window.tab.lock.requestHandOver({ maxWaitMs }).then(
          ({ lease }) => ({ fence: lease.fence }),
          (error) => ({ code: error.code }),
        ),
      maxWaitMs,
    );

  it('is what the holder gives when it has saved', async () => {
    const [holder, next] = [await browser.tab(), await browser.tab()];
    const { lease } = await acquire(holder);
    await holder.evaluate(() => {
      let saved = 0;
      window.tab.lock.offerHandOver(async () => {
        await new Promise((done) => setTimeout(done, 50));
        saved += 1;
        await window.tab.release();
      });
      Object.assign(window, { saved: () => saved });
    });
    const { fence } = (await request(next, 60_000)) as { fence: number };
    expect(fence).toBeGreaterThan(lease?.fence as number);
    expect(await holder.evaluate(() => (window as unknown as { saved(): number }).saved())).toBe(1);
    expect(await holder.evaluate(() => window.tab.lock.isHolder())).toBe(false);
  });

  it('is not taken from a holder that does not offer it', async () => {
    const [holder, next] = [await browser.tab(), await browser.tab()];
    await acquire(holder);
    expect(await request(next, 1500)).toEqual({ code: 'web-lock-unavailable' });
    expect(await holder.evaluate(() => window.tab.lock.isHolder())).toBe(true);
    expect(await release(holder)).toEqual({});
  });
});
