// What each situation of a browser gives: the table of the README, row by row, in a real Chromium.

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Chromium, INSECURE_HOST, ready } from './support/chromium.js';
import { files, rows } from './support/storage.js';

let browser: Chromium;
beforeAll(async () => void (browser = await Chromium.start()));
afterAll(() => browser.stop());

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

it('the example of the README saves the project', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const content = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
  expect(content.trim().split('\n').filter(Boolean).length).toBeLessThanOrEqual(5);
  const page = await browser.context.newPage();
  await page.goto(browser.url('/tests/browser/support/elsewhere.html'));
  // What a bundler or an import map of the user's does: the name leads to the files.
  await page.addScriptTag({ type: 'importmap', content: '{"imports":{"@holdfast/project-lock":"/dist/index.js"}}' });
  await page.evaluate(() => {
    const saveProject = async ({ fence, signal }: { fence: number; signal: AbortSignal }) => {
      const { held } = await navigator.locks.query();
      Object.assign(window, { saved: { fence, lost: signal.aborted, held: held?.length } });
    };
    Object.assign(window, { saveProject });
  });
  await page.addScriptTag({ type: 'module', content });
  await page.waitForFunction(() => 'saved' in window);
  const saved = await page.evaluate(() => (window as unknown as { saved: object }).saved);
  expect(saved).toEqual({ fence: expect.any(Number), lost: false, held: 1 });
  await expect.poll(() => page.evaluate(async () => (await navigator.locks.query()).held)).toEqual([]);
  await page.close();
});

it('everything is there: the Web Lock, and the record in OPFS', async () => {
  const tab = await browser.tab();
  const { lease, didFallback } = await tab.evaluate(() => window.tab.acquire());
  expect([lease?.source, didFallback]).toEqual(['web-lock', false]);
  expect(lease?.leaseId).toMatch(UUID);
  const stored = await files(tab);
  expect(Object.keys(stored).sort()).toEqual(['project/.lock', 'project/.lock.fence']);
  expect(stored['project/.lock']).toBe(JSON.stringify({ leaseId: lease?.leaseId, expiresAt: lease?.expiresAt }));
  expect(await tab.evaluate(() => window.tab.release())).toEqual({});
  expect(Object.keys(await files(tab))).toEqual(['project/.lock.fence']);
  expect(await tab.evaluate(async () => (await indexedDB.databases()).length)).toBe(0);
  await tab.close();
});

it('no Web Locks: the record in OPFS', async () => {
  const tab = await browser.tab(['locks']);
  expect(await tab.evaluate(() => window.tab.acquire())).toMatchObject({ lease: { source: 'opfs-lock' }, didFallback: true });
  expect(await tab.evaluate(() => window.tab.events.map(({ type }) => type))).toEqual(['switch-to-fallback', 'acquired']);
  expect(await tab.evaluate(() => window.tab.release())).toEqual({});
  await tab.close();
});

it('no OPFS: the Web Lock, and the record in IndexedDB', async () => {
  const tab = await browser.tab(['opfs']);
  const { lease } = await tab.evaluate(() => window.tab.acquire());
  expect(lease?.source).toBe('web-lock');
  expect((await rows(tab))['.lock']).toBe(JSON.stringify({ leaseId: lease?.leaseId, expiresAt: lease?.expiresAt }));
  expect(await tab.evaluate(() => window.tab.release())).toEqual({});
  expect(Object.keys(await rows(tab))).toEqual(['.lock.fence']);
  await tab.close();
});

it('an insecure context has neither: the record in IndexedDB', async () => {
  const tab = await browser.tab([], browser.url(undefined, INSECURE_HOST));
  expect(await tab.evaluate(() => isSecureContext)).toBe(false);
  const { lease, didFallback } = await tab.evaluate(() => window.tab.acquire());
  expect([lease?.source, didFallback]).toEqual(['idb-lock', true]);
  expect(lease?.leaseId).toMatch(UUID);
  const other = await browser.tab([], browser.url(undefined, INSECURE_HOST));
  expect(await other.evaluate(() => window.tab.acquire({ maxWaitMs: 0 }))).toMatchObject({ error: { code: 'web-lock-unavailable' } });
  expect(await tab.evaluate(() => window.tab.release())).toEqual({});
  await Promise.all([tab.close(), other.close()]);
});

it('a page without an origin has nothing to share: fallback-open-failed', async () => {
  const page = await browser.context.newPage();
  await page.goto(browser.url('/tests/browser/support/opaque.html'));
  const frame = page.frames()[1];
  if (!frame) throw new Error('there is no frame');
  await frame.waitForFunction(() => 'tab' in window);
  expect(await frame.evaluate(() => origin)).toBe('null');
  expect(await frame.evaluate(() => window.tab.acquire())).toMatchObject({ error: { code: 'fallback-open-failed', retryable: false } });
  expect(await frame.evaluate(() => window.tab.events.map(({ type }) => type))).toEqual(['switch-to-fallback', 'acquire-failed']);
  await page.close();
});

it('a private window works like any other, apart from them', async () => {
  const normal = await browser.tab();
  await normal.evaluate(() => window.tab.acquire());
  const hidden = await browser.privateWindow();
  const page = await hidden.newPage();
  await page.goto(browser.url());
  await ready(page);
  expect(await page.evaluate(() => window.tab.acquire())).toMatchObject({ lease: { source: 'web-lock' }, didFallback: false });
  const second = await hidden.newPage();
  await second.goto(browser.url());
  await ready(second);
  expect(await second.evaluate(() => window.tab.acquire({ maxWaitMs: 0 }))).toMatchObject({ error: { code: 'web-lock-unavailable' } });
  expect(await page.evaluate(() => window.tab.release())).toEqual({});
  expect(await second.evaluate(() => window.tab.acquire({ maxWaitMs: 0 }))).toMatchObject({ didFallback: false });
  await hidden.close();
  expect(await normal.evaluate(() => window.tab.release())).toEqual({});
  await normal.close();
});
