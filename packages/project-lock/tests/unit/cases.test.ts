// The seven cases that the design of the lock was written with, each with its doubles.

import { expect, it } from 'vitest';
import { FakeBrowser } from '../doubles/browser.js';

const OTHER = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';

it('TC-01 a Web Lock that is granted', async () => {
  const browser = new FakeBrowser();
  const tab = browser.tab();
  const { lease, didFallback } = await tab.lock.acquire();
  expect(didFallback).toBe(false);
  expect(lease).toMatchObject({ source: 'web-lock', expiresAt: browser.clock.now() + 15_000 });
  expect(tab.probe.types).toEqual(['acquired']);
  expect(tab.probe.events[0]?.lease).toBe(lease);
  expect(browser.locks.isHeld).toBe(true);
  expect(browser.record).toEqual({ leaseId: lease.leaseId, expiresAt: lease.expiresAt });
});

it.each(['NotSupportedError', 'SecurityError'])('TC-02 %s leads to the record', async (name) => {
  const browser = new FakeBrowser();
  browser.locks.script.push({ error: new DOMException('not here', name) });
  const tab = browser.tab();
  const { lease, didFallback } = await tab.lock.acquire();
  expect(didFallback).toBe(true);
  expect(lease.source).toBe('opfs-lock');
  expect(tab.probe.types).toEqual(['switch-to-fallback', 'acquired']);
  expect(tab.probe.events[0]?.error).toMatchObject({ code: 'web-lock-unavailable', retryable: true });
  expect(browser.record).toEqual({ leaseId: lease.leaseId, expiresAt: lease.expiresAt });
});

it('TC-03 a record of another tab is backed off from, longer each time, and then had', async () => {
  const browser = new FakeBrowser();
  const expiresAt = browser.clock.now() + 2900;
  browser.folder.record.text = JSON.stringify({ leaseId: OTHER, expiresAt });
  const tab = browser.tab({ webLocks: false });
  const acquired = tab.lock.acquire();
  await browser.clock.advance(5000);
  const { lease } = await acquired;
  expect(tab.probe.types).toEqual(['switch-to-fallback', ...Array(5).fill('backoff'), 'acquired']);
  expect(tab.probe.of('backoff').map(({ attempt, delayMs }) => [attempt, delayMs])).toEqual([
    [1, 200],
    [2, 400],
    [3, 800],
    [4, 1600],
    [5, 2000],
  ]);
  expect(lease.leaseId).not.toBe(OTHER);
  // The record is over for 2.1 s: nobody knows its tab, so it is also watched for as long as a beat takes.
  expect(lease.expiresAt).toBe(expiresAt + 2100 + 15_000);
});

it('TC-04 an abort ends the wait, and nothing is left', async () => {
  const browser = new FakeBrowser();
  const [holder, tab] = [browser.tab(), browser.tab()];
  await holder.lock.acquire();
  const before = { record: browser.folder.record.text, timers: browser.clock.timers };
  const abort = new AbortController();
  const acquired = tab.lock.acquire({ signal: abort.signal });
  await browser.clock.advance(100);
  abort.abort(new Error('the user left'));
  await expect(acquired).rejects.toMatchObject({ code: 'web-lock-aborted', retryable: false, cause: abort.signal.reason });
  expect(tab.probe.types).toEqual(['acquire-failed']);
  expect(tab.probe.events[0]?.error?.code).toBe('web-lock-aborted');
  expect(browser.locks.waiting).toBe(0);
  expect({ record: browser.folder.record.text, timers: browser.clock.timers }).toEqual(before);
});

it('TC-05 a renewal moves the end on', async () => {
  const browser = new FakeBrowser();
  const tab = browser.tab({ webLocks: false });
  const { lease } = await tab.lock.acquire();
  browser.clock.jump(10_000);
  const renewed = await tab.lock.renew({ lease });
  expect(renewed.expiresAt).toBe(lease.expiresAt + 10_000);
  expect(renewed).toMatchObject({ leaseId: lease.leaseId, fence: lease.fence, source: 'opfs-lock' });
  expect(browser.record).toEqual({ leaseId: lease.leaseId, expiresAt: renewed.expiresAt });
  expect(tab.probe.types).toEqual(['switch-to-fallback', 'acquired', 'renewed']);
  expect(tab.probe.events[2]?.lease).toBe(renewed);
  const longer = await tab.lock.renew({ lease: renewed, extendByMs: 60_000 });
  expect(longer.expiresAt).toBe(browser.clock.now() + 60_000);
});

it('TC-06 a record that cannot be removed', async () => {
  const browser = new FakeBrowser();
  const tab = browser.tab();
  const { lease } = await tab.lock.acquire();
  browser.folder.record.failures.delete.push(new Error('the disk is on fire'));
  await expect(tab.lock.release({ lease })).rejects.toMatchObject({ code: 'fallback-write-failed', retryable: true });
  expect(tab.probe.types).toEqual(['acquired', 'release-failed']);
  expect(tab.probe.events[1]).toMatchObject({ lease, error: { code: 'fallback-write-failed' } });
  expect(browser.locks.isHeld).toBe(false);
  // It may be tried again, and nobody has moved its end on meanwhile.
  await browser.clock.advance(8000);
  expect(browser.record).toEqual({ leaseId: lease.leaseId, expiresAt: lease.expiresAt });
  await tab.lock.release({ lease });
  expect(browser.record).toBeNull();
});

it('TC-07 a lease whose end has passed has to be acquired anew', async () => {
  const browser = new FakeBrowser();
  const tab = browser.tab();
  const { lease } = await tab.lock.acquire();
  browser.clock.jump(15_000);
  await expect(tab.lock.renew({ lease })).rejects.toMatchObject({ code: 'lease-expired', retryable: false });
  expect(tab.probe.types).toEqual(['acquired', 'expired']);
  expect(tab.probe.events[1]).toMatchObject({ lease, error: { code: 'lease-expired' } });
  expect(lease.signal?.aborted).toBe(true);
  expect(browser.locks.isHeld).toBe(false);
  expect(browser.clock.timers).toBe(0);
  const again = await tab.lock.acquire();
  expect(again.lease.leaseId).not.toBe(lease.leaseId);
  expect(again.lease.fence).toBeGreaterThan(lease.fence as number);
});
