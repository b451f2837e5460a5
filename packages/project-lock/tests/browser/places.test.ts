// Where the package is run and where its worker comes from: pages that may start none, workers, two copies in one page, and
// workers that the app supplies. The record is the same one everywhere, so each is held against a plain tab.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium } from './support/chromium.js';
import { serve, type Site } from './support/server.js';
import { files } from './support/storage.js';

let browser: Chromium;
let other: Page;
beforeAll(async () => {
  browser = await Chromium.start();
  other = await browser.tab();
});
afterAll(() => browser.stop());

const acquire = (page: Page, options = {}) => page.evaluate((options) => window.tab.acquire(options), options);
const release = (page: Page) => page.evaluate(() => window.tab.release());
const REFUSED = { error: { code: 'web-lock-unavailable' } };
const withPolicy = (policy: string) => browser.tab([], browser.url(`/tests/browser/support/page.html?csp=${encodeURIComponent(policy)}`));

/** The page holds the project and the plain tab does not get it, and the other way round. */
async function excludeEachOther(page: Page): Promise<void> {
  const { lease, error } = await acquire(page);
  expect(error).toBeUndefined();
  expect((await files(other))['project/.lock']).toBe(JSON.stringify({ leaseId: lease?.leaseId, expiresAt: lease?.expiresAt }));
  expect(await acquire(other, { maxWaitMs: 0 })).toMatchObject(REFUSED);
  expect(await release(page)).toEqual({});
  expect(Object.keys(await files(other))).toEqual(['project/.lock.fence']);
  expect((await acquire(other)).lease?.fence).toBeGreaterThan(lease?.fence as number);
  expect(await acquire(page, { maxWaitMs: 0 })).toMatchObject(REFUSED);
  expect(await release(other)).toEqual({});
}

describe('a page that can start no worker keeps the record itself', () => {
  it('because of its content security policy', async () => {
    const page = await withPolicy("worker-src 'none'");
    await excludeEachOther(page);
    expect(page.workers().length).toBe(0);
    await page.close();
  });

  it('because of trusted types', async () => {
    const page = await withPolicy("require-trusted-types-for 'script'");
    await excludeEachOther(page);
    expect(page.workers().length).toBe(0);
    await page.close();
  });

  it('because guard.js was left behind', async () => {
    const page = await browser.context.newPage();
    await page.route('**/dist/guard.js', (route) => route.fulfill({ status: 404, contentType: 'text/html', body: '<!doctype html>' }));
    await page.goto(browser.url());
    await page.waitForFunction(() => 'tab' in window);
    await excludeEachOther(page);
    await page.close();
  });

  it('and its beats keep the lease', async () => {
    const page = await browser.tab(['worker']);
    const { lease } = await acquire(page);
    await page.waitForFunction(() => window.tab.events.filter(({ type }) => type === 'renewed').length >= 2);
    const stored = JSON.parse((await files(page))['project/.lock'] as string);
    expect(stored.leaseId).toBe(lease?.leaseId);
    expect(stored.expiresAt).toBeGreaterThan(lease?.expiresAt as number);
    expect(await release(page)).toEqual({});
    await page.close();
  });

  it('and a damaged record is made anew', async () => {
    const page = await browser.tab(['worker']);
    await page.evaluate(async () => {
      const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('project', { create: true });
      await folder.getDirectoryHandle('.lock', { create: true });
    });
    expect((await acquire(page)).error).toBeUndefined();
    expect(await page.evaluate(() => window.tab.events[0])).toMatchObject({ type: 'backoff', code: 'fallback-read-failed' });
    expect(await release(page)).toEqual({});
    await page.close();
  });

  it('but not if the record is where only a worker could write it', async () => {
    const page = await browser.tab(['worker', 'locks']);
    const { error } = await acquire(page);
    expect(error).toMatchObject({ code: 'fallback-open-failed', retryable: false });
    expect(error?.message).toContain('without a worker');
    await page.close();
  });
});

describe('the worker can be supplied', () => {
  const setUp = (page: Page, work: string) => page.evaluate(`window.tab.lock.createProjectLock(${work}); undefined`);

  it('by its address', async () => {
    const page = await browser.tab();
    await setUp(page, `{ workerUrl: new URL('/copy/dist/guard.js', location.href) }`);
    await excludeEachOther(page);
    expect(page.workers().map((worker) => new URL(worker.url()).pathname)).toEqual(['/copy/dist/guard.js']);
    await page.close();
  });

  it('by an address that a policy of trusted types has made', async () => {
    const page = await withPolicy("require-trusted-types-for 'script'; trusted-types app");
    await setUp(page, `{ workerUrl: trustedTypes.createPolicy('app', { createScriptURL: (url) => url }).createScriptURL('/dist/guard.js') }`);
    await excludeEachOther(page);
    expect(page.workers().length).toBe(1);
    await page.close();
  });

  it('from another origin, by a worker that imports it', async () => {
    const cdn: Site = await serve();
    const page = await browser.tab();
    const guard = `http://127.0.0.1:${cdn.port}/dist/guard.js`;
    await setUp(page, `{ createWorker: () => new Worker(URL.createObjectURL(new Blob(['import "${guard}"'], { type: 'text/javascript' })), { type: 'module' }) }`);
    await excludeEachOther(page);
    expect(page.workers().map((worker) => worker.url().slice(0, 5))).toEqual(['blob:']);
    await page.close();
    await cdn.close();
  });

  it('and a page that has all of the package from another origin needs none', async () => {
    const cdn: Site = await serve();
    const page = await browser.context.newPage();
    await page.goto(browser.url('/tests/browser/support/elsewhere.html'));
    await page.addScriptTag({ type: 'module', url: `http://127.0.0.1:${cdn.port}/tests/browser/support/page.js` });
    await page.waitForFunction(() => 'tab' in window);
    await excludeEachOther(page);
    await page.close();
    await cdn.close();
  });
});

describe('inside of', () => {
  it.each([
    ['a worker', 'new Worker'],
    ['a shared worker', 'new SharedWorker'],
  ])('%s', async (_name, make) => {
    const page = await browser.tab();
    await page.evaluate(`
      const made = ${make}('/tests/browser/support/worker.js', { type: 'module' });
      const port = made.port ?? made;
      window.ask = (word) => new Promise((answer) => {
        port.onmessage = ({ data }) => answer(data);
        port.postMessage(word);
      });
      undefined;
    `);
    const ask = (word: string) => page.evaluate((word) => (window as unknown as { ask(word: string): Promise<object> }).ask(word), word);
    expect(await ask('acquire')).toEqual({ source: 'web-lock' });
    expect(await acquire(other, { maxWaitMs: 0 })).toMatchObject(REFUSED);
    expect(await acquire(page, { maxWaitMs: 0 })).toMatchObject(REFUSED);
    expect(await ask('release')).toEqual({ source: 'web-lock' });
    await acquire(other);
    expect(await ask('acquire')).toEqual({ code: 'web-lock-unavailable' });
    expect(await release(other)).toEqual({});
    await page.close();
  });
});

it('two copies of the package in one page are one holder', async () => {
  const page = await browser.tab();
  await acquire(page);
  // As a text: what the test runner makes of an import is not for a page.
  const second = await page.evaluate(`import('/copy/dist/index.js').then(async (copy) => {
    const { lock } = window.tab;
    const events = [];
    copy.subscribeLockEvents(({ type }) => events.push(type));
    const error = await copy.acquireProjectLock().catch((error) => error);
    const isOurs = [error instanceof copy.ProjectLockError, error instanceof lock.ProjectLockError];
    return { different: copy.acquireProjectLock !== lock.acquireProjectLock, code: error.code, isOurs, events };
  })`);
  expect(second).toEqual({ different: true, code: 'lease-mismatch', isOurs: [true, true], events: ['acquire-failed'] });
  expect(page.workers().length).toBe(1);
  expect(await release(page)).toEqual({});
  await page.close();
});

describe('projects with names', () => {
  const named = (page: Page, name: string, work: string) =>
    page.evaluate(
      `(async () => {
        const lock = window.tab.lock.createProjectLock({ name: ${JSON.stringify(name)} });
        try { return await (async () => { ${work} })(); } catch (error) { return { code: error.code ?? error.name }; }
      })()`,
    );
  const take = `const { lease } = await lock.acquire({ maxWaitMs: 0 }); (window.named ??= {})[lock.name] = lease; return { isHolder: lock.isHolder() };`;
  const giveBack = `await lock.release({ lease: window.named[lock.name] }); return { isHolder: lock.isHolder() };`;

  it.each([
    ['in OPFS', []],
    ['in IndexedDB', ['opfs']],
  ] as const)('are held one by one, beside the one without a name, %s', async (_name, lacks) => {
    const [page, second] = [await browser.tab(lacks), await browser.tab(lacks)];
    const names = ['Roman', 'roman', '.', 'a/b', '小説'];
    for (const name of names) expect(await named(page, name, take)).toEqual({ isHolder: true });
    expect((await acquire(second, { maxWaitMs: 0 })).error).toBeUndefined();
    for (const name of names) expect(await named(second, name, take)).toEqual({ code: 'web-lock-unavailable' });
    if (lacks.length === 0) {
      const folders = ['$roman', 'roman', '$.', 'a%2$fb', '%$e5%$b0%8$f%$e8%$a$a%$a$c'];
      const paths = folders.flatMap((folder) => ['.lock', '.lock.fence'].map((file) => `project/.locks/${folder}/${file}`));
      expect(Object.keys(await files(page)).sort()).toEqual([...paths, 'project/.lock', 'project/.lock.fence'].sort());
    }
    expect(await named(page, 'roman', giveBack)).toEqual({ isHolder: false });
    expect(await named(second, 'roman', take)).toEqual({ isHolder: true });
    expect(await named(second, 'Roman', take)).toEqual({ code: 'web-lock-unavailable' });
    for (const tab of [page, second]) expect(tab.workers().length).toBe(1);
    await Promise.all([page.close(), second.close()]);
  });

  it.each(['', 'x'.repeat(151), 'あ'.repeat(17)])('that are none are refused: %j', async (name) => {
    expect(await other.evaluate((name) => {
      try {
        window.tab.lock.createProjectLock({ name });
        return 'made';
      } catch (error) {
        return (error as Error).name;
      }
    }, name)).toBe('RangeError');
  });
});
