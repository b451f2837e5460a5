// Bad records, put into a real `.lock` from outside: each is told, made anew, and in nobody's way afterwards.

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium } from './support/chromium.js';
import { files, putRecord, putRow, rows } from './support/storage.js';

const YEAR_MS = 365 * 86_400_000;
const ID = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';

let browser: Chromium;
let tab: Page;
beforeAll(async () => {
  browser = await Chromium.start();
  tab = await browser.tab();
});
afterAll(() => browser.stop());
afterEach(() => tab.evaluate(() => void (window.tab.events.length = 0)));

it.each([
  ['bad JSON', '{"leaseId":'],
  ['wrong types', '{"leaseId":7,"expiresAt":"soon"}'],
  ['a lease a year ahead', JSON.stringify({ leaseId: ID, expiresAt: Date.now() + YEAR_MS })],
  ['an empty file', ''],
])('%s', async (_name, text) => {
  await putRecord(tab, text);
  const { lease, didFallback } = await tab.evaluate(() => window.tab.acquire());
  expect(didFallback).toBe(false);
  expect(await tab.evaluate(() => window.tab.events)).toMatchObject([
    { type: 'backoff', code: 'fallback-read-failed', attempt: 1, delayMs: 200 },
    { type: 'acquired', leaseId: lease?.leaseId },
  ]);
  expect(JSON.parse((await files(tab))['project/.lock'] as string)).toEqual({ leaseId: lease?.leaseId, expiresAt: lease?.expiresAt });
  expect(await tab.evaluate(() => window.tab.release())).toEqual({});
});

it.each([
  ['bad JSON', '{"leaseId":'],
  ['no text at all', { leaseId: ID, expiresAt: 0 }],
])('in IndexedDB, %s', async (_name, value) => {
  const other = await browser.tab(['locks', 'opfs']);
  expect((await other.evaluate(() => window.tab.acquire())).error).toBeUndefined();
  expect(await other.evaluate(() => window.tab.release())).toEqual({});
  await putRow(other, value);
  const { lease } = await other.evaluate(() => window.tab.acquire());
  expect(await other.evaluate(() => window.tab.events.slice(-2))).toMatchObject([
    { type: 'backoff', code: 'fallback-read-failed', attempt: 1 },
    { type: 'acquired', leaseId: lease?.leaseId },
  ]);
  expect((await rows(other))['.lock']).toContain(lease?.leaseId);
  expect(await other.evaluate(() => window.tab.release())).toEqual({});
  await other.close();
});

it('a good record of a tab that nobody knows is waited for until its end', async () => {
  const expiresAt = Date.now() + 2000;
  await putRecord(tab, JSON.stringify({ leaseId: ID, expiresAt }));
  const { lease } = await tab.evaluate(() => window.tab.acquire({ maxWaitMs: 20_000 }));
  expect((lease?.expiresAt ?? 0) - 15_000).toBeGreaterThanOrEqual(expiresAt);
  expect(await tab.evaluate(() => window.tab.events.map(({ type }) => type))).toContain('backoff');
  expect(await tab.evaluate(() => window.tab.release())).toEqual({});
});

it('whoever reads the record finds the lease while it is held, and none or one that is over when it was given back', async () => {
  const rounds = await tab.evaluate(async (rounds) => {
    const { acquireProjectLock, releaseProjectLock } = window.tab.lock;
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('project', { create: true });
    const file = await folder.getFileHandle('.lock', { create: true });
    await folder.removeEntry('.lock');
    const read = async () => (await file.getFile()).text();
    // It may be removed between two of these calls: then there is none.
    const look = () => read().then(JSON.parse, () => null);
    const found = [];
    for (let round = 0; round < rounds; round += 1) {
      const { lease } = await acquireProjectLock();
      // To look takes a while, and most leases shall be given back sooner, while the tab is in the section still.
      const held = round % 10 ? lease : await look();
      await releaseProjectLock({ lease });
      const after = await look();
      found.push({ held: held?.leaseId === lease.leaseId, over: after === null || after.expiresAt < Date.now() });
    }
    return found;
  }, 200);
  expect(rounds).toEqual(rounds.map(() => ({ held: true, over: true })));
});

/** Meddles with the files: refused while a step goes on, so it is tried until none does. */
const meddle = (work: () => Promise<void>) =>
  expect.poll(() => tab.evaluate(work).then(() => 'done', String), { timeout: 60_000 }).toBe('done');
const clear = () =>
  meddle(async () => (await navigator.storage.getDirectory()).removeEntry('project', { recursive: true }));

it.each(['.lock', '.lock.fence'])('a directory in the place of %s is removed, with what is in it', async (name) => {
  await meddle(async () => {
    // Not before the section is left: the file is open until then.
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('project', { create: true });
    await folder.removeEntry('.lock.fence').catch((error) => {
      if (error.name !== 'NotFoundError') throw error;
    });
  });
  await tab.evaluate(async (name) => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('project');
    const inside = await (await folder.getDirectoryHandle(name, { create: true })).getFileHandle('notes', { create: true });
    const writable = await inside.createWritable();
    await writable.write('of somebody');
    await writable.close();
  }, name);
  const { lease, error } = await tab.evaluate(() => window.tab.acquire());
  expect(error).toBeUndefined();
  const stored = await files(tab);
  expect(Object.keys(stored).sort()).toEqual(['project/.lock', 'project/.lock.fence']);
  expect(stored['project/.lock']).toContain(lease?.leaseId);
  expect(await tab.evaluate(() => window.tab.release())).toEqual({});
});

it('data that is cleared under the page: everything begins anew, with a larger fence', async () => {
  const first = (await tab.evaluate(() => window.tab.acquire())).lease;
  expect(await tab.evaluate(() => window.tab.release())).toEqual({});
  await clear();
  expect((await tab.evaluate(() => window.tab.acquire())).lease?.fence).toBeGreaterThan(first?.fence as number);
  await clear();
  expect(await tab.evaluate(() => window.tab.renew())).toMatchObject({ error: { code: 'lease-expired' } });
  expect(await tab.evaluate(() => window.tab.isLost())).toBe(true);
});

it('a counter that is garbage costs nothing but the copy', async () => {
  const first = (await tab.evaluate(() => window.tab.acquire())).lease;
  expect(await tab.evaluate(() => window.tab.release())).toEqual({});
  await meddle(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('project');
    const writable = await (await folder.getFileHandle('.lock.fence')).createWritable();
    await writable.write('garbage');
    await writable.close();
  });
  expect((await tab.evaluate(() => window.tab.acquire())).lease?.fence).toBeGreaterThan(first?.fence as number);
  expect(await tab.evaluate(() => window.tab.release())).toEqual({});
});
