// Every row of the table of errors: where it comes from, whether it may be tried again, and what is done about it.

import { describe, expect, it } from 'vitest';
import { failure, failureOf, ProjectLockError, type ProjectLockErrorCode } from '../../src/errors.js';
import { FakeBrowser } from '../doubles/browser.js';
import { TORN } from '../doubles/in-memory-opfs-file.js';

const disk = () => new Error('the disk is on fire');
const ONCE = { retryPolicy: { initialDelayMs: 10, maxDelayMs: 10, multiplier: 1, maxAttempts: 1 } };

describe('the table', () => {
  const rows: [ProjectLockErrorCode, boolean][] = [
    ['web-lock-unavailable', true],
    ['web-lock-aborted', false],
    ['fallback-open-failed', false],
    ['fallback-read-failed', true],
    ['fallback-write-failed', true],
    ['lease-mismatch', false],
    ['lease-expired', false],
  ];
  it.each(rows)('%s: retryable %s', (code, retryable) => {
    const error = failure(code, 'why', 'cause');
    expect(error).toBeInstanceOf(ProjectLockError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ code, retryable, cause: 'cause', message: 'why', name: 'ProjectLockError' });
  });

  it.each([
    ['HELD', 'web-lock-unavailable'],
    ['BUSY', 'web-lock-unavailable'],
    ['ALREADY_HELD', 'lease-mismatch'],
    ['NOT_HOLDER', 'lease-mismatch'],
    ['NOT_FOUND', 'lease-expired'],
    ['EXPIRED', 'lease-expired'],
    ['FENCED_OUT', 'lease-expired'],
    ['TTL_OUT_OF_RANGE', 'fallback-write-failed'],
    ['DEADLINE_TOO_FAR', 'fallback-write-failed'],
    ['DUPLICATE_ID', 'fallback-write-failed'],
    ['COUNTER_BEHIND', 'fallback-write-failed'],
    ['FENCES_EXHAUSTED', 'fallback-write-failed'],
  ] as const)('the refusal %s is told as %s', (code, told) => {
    expect(failureOf({ type: 'refused', code }).code).toBe(told);
  });
});

describe('web-lock-unavailable', () => {
  it('leads to the record where there are no Web Locks', async () => {
    const tab = new FakeBrowser().tab({ webLocks: false });
    await tab.lock.acquire();
    expect(tab.probe.events[0]).toMatchObject({ type: 'switch-to-fallback', error: { code: 'web-lock-unavailable' } });
  });

  it('is backed off from when a request fails for no lasting reason', async () => {
    const browser = new FakeBrowser();
    browser.locks.script.push({ error: new DOMException('not fully active', 'InvalidStateError') });
    const tab = browser.tab();
    const acquired = tab.lock.acquire();
    await browser.clock.advance(200);
    expect((await acquired).didFallback).toBe(false);
    expect(tab.probe.types).toEqual(['backoff', 'acquired']);
    expect(tab.probe.events[0]?.error?.code).toBe('web-lock-unavailable');
  });

  it('also if the browser throws instead of rejecting', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    Object.assign(browser.locks, { request: () => { throw new DOMException('no', 'SecurityError'); } });
    expect((await tab.lock.acquire()).lease.source).toBe('opfs-lock');
  });

  it('is what remains when the time is up', async () => {
    const browser = new FakeBrowser();
    await browser.tab().lock.acquire();
    const tab = browser.tab();
    await expect(tab.lock.acquire({ maxWaitMs: 0 })).rejects.toMatchObject({ code: 'web-lock-unavailable', retryable: true });
    expect(tab.probe.types).toEqual(['acquire-failed']);
  });
});

describe('web-lock-aborted', () => {
  it('comes at once if the signal was aborted before', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    await expect(tab.lock.acquire({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'web-lock-aborted' });
    expect(browser.locks.requests).toBe(0);
    expect(browser.folder.entered).toBe(0);
    expect(tab.probe.types).toEqual(['acquire-failed']);
  });

  it('does not lead to the record', async () => {
    const browser = new FakeBrowser();
    browser.locks.script.push('never');
    const tab = browser.tab();
    const abort = new AbortController();
    const acquired = tab.lock.acquire({ signal: abort.signal });
    await browser.clock.advance(10);
    abort.abort();
    await expect(acquired).rejects.toMatchObject({ code: 'web-lock-aborted' });
    await browser.clock.advance(10_000);
    expect(browser.folder.entered).toBe(0);
    expect(browser.clock.timers).toBe(0);
  });

  it('gives back what was granted while the caller went away', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab({ webLocks: false });
    const abort = new AbortController();
    const acquired = tab.lock.acquire({ signal: abort.signal });
    await Promise.resolve();
    await Promise.resolve();
    queueMicrotask(() => abort.abort());
    await expect(acquired).rejects.toMatchObject({ code: 'web-lock-aborted' });
    await browser.clock.advance(10_000);
    expect(browser.record).toBeNull();
    expect(browser.clock.timers).toBe(0);
  });

  it('ends a delay between two attempts', async () => {
    const browser = new FakeBrowser();
    await browser.tab({ webLocks: false }).lock.acquire();
    const timers = browser.clock.timers;
    const tab = browser.tab({ webLocks: false });
    const abort = new AbortController();
    const acquired = tab.lock.acquire({ signal: abort.signal });
    await browser.clock.advance(50);
    expect(tab.probe.types).toEqual(['switch-to-fallback', 'backoff']);
    abort.abort();
    await expect(acquired).rejects.toMatchObject({ code: 'web-lock-aborted' });
    expect(browser.clock.timers).toBe(timers);
  });
});

describe('fallback-open-failed', () => {
  it('ends the acquisition at once and lets go of the Web Lock', async () => {
    const browser = new FakeBrowser();
    browser.folder.failures.push(disk());
    const tab = browser.tab();
    await expect(tab.lock.acquire()).rejects.toMatchObject({ code: 'fallback-open-failed', retryable: false });
    expect(tab.probe.types).toEqual(['acquire-failed']);
    expect(browser.locks.isHeld).toBe(false);
  });

  it('is what a worker comes to that does not start', async () => {
    const tab = new FakeBrowser().tab();
    tab.link.dead = 'blocked by the content security policy';
    const acquired = tab.lock.acquire();
    await expect(acquired).rejects.toMatchObject({ code: 'fallback-open-failed' });
    await expect(acquired).rejects.toThrow(/content security policy/);
  });
});

describe.each([
  ['fallback-read-failed', 'read'],
  ['fallback-write-failed', 'write'],
] as const)('%s', (code, kind) => {
  it('is tried again', async () => {
    const browser = new FakeBrowser();
    browser.folder.record.failures[kind].push(disk(), disk());
    const tab = browser.tab();
    const acquired = tab.lock.acquire();
    await browser.clock.advance(600);
    await acquired;
    expect(tab.probe.types).toEqual(['backoff', 'backoff', 'acquired']);
    expect(tab.probe.events[0]).toMatchObject({ error: { code, retryable: true }, attempt: 1, delayMs: 200 });
  });

  it('is told when there is no attempt left', async () => {
    const browser = new FakeBrowser();
    browser.folder.record.failures[kind].push(disk());
    const tab = browser.tab();
    await expect(tab.lock.acquire(ONCE)).rejects.toMatchObject({ code });
    expect(tab.probe.types).toEqual(['acquire-failed']);
  });

  it('of a renewal leaves the lease as it was', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    browser.folder.record.failures[kind].push(disk());
    await expect(tab.lock.renew({ lease })).rejects.toMatchObject({ code, retryable: true });
    expect(lease.signal?.aborted).toBe(false);
    expect((await tab.lock.renew({ lease })).leaseId).toBe(lease.leaseId);
  });
});

describe('a tab does not lock itself out', () => {
  it.each([
    ['leaves nothing', disk],
    ['leaves an empty record, which is made anew from the copy', () => new Error(TORN)],
  ])('by a grant whose write fails and %s', async (_name, error) => {
    const browser = new FakeBrowser();
    const tab = browser.tab({ webLocks: false });
    browser.folder.record.failures.write.push(error());
    const acquired = tab.lock.acquire();
    await browser.clock.advance(600);
    const { lease } = await acquired;
    expect(browser.record).toEqual({ leaseId: lease.leaseId, expiresAt: lease.expiresAt });
  });

  it('also if the next call is the one that finds what the first has left', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab({ webLocks: false });
    browser.folder.record.failures.write.push(new Error(TORN));
    await expect(tab.lock.acquire(ONCE)).rejects.toMatchObject({ code: 'fallback-write-failed' });
    const acquired = tab.lock.acquire();
    await browser.clock.advance(200);
    expect((await acquired).lease.source).toBe('opfs-lock');
  });

  it('by a release that failed', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab({ webLocks: false });
    const first = await tab.lock.acquire();
    browser.folder.record.failures.delete.push(disk());
    await expect(tab.lock.release({ lease: first.lease })).rejects.toMatchObject({ code: 'fallback-write-failed' });
    const { lease } = await tab.lock.acquire({ maxWaitMs: 0 });
    expect(lease.fence).toBeGreaterThan(first.lease.fence as number);
  });
});

it('a holder that does not get to the record is told that it could not be written', async () => {
  const browser = new FakeBrowser();
  const tab = browser.tab();
  const { lease } = await tab.lock.acquire();
  browser.folder.stuck = true;
  await expect(tab.lock.renew({ lease })).rejects.toMatchObject({ code: 'fallback-write-failed' });
  await expect(tab.lock.release({ lease })).rejects.toMatchObject({ code: 'fallback-write-failed' });
  expect(tab.probe.types).toEqual(['acquired', 'release-failed']);
});

describe('lease-mismatch', () => {
  it('is told at once to a tab that holds the project already', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    await expect(tab.lock.acquire()).rejects.toMatchObject({ code: 'lease-mismatch', retryable: false });
    expect(tab.probe.types).toEqual(['acquired', 'acquire-failed']);
    expect(browser.locks.requests).toBe(1);
    await tab.lock.release({ lease });
  });

  it('and to one that is waiting for it', async () => {
    const browser = new FakeBrowser();
    const holder = await browser.tab().lock.acquire();
    const tab = browser.tab();
    const first = tab.lock.acquire();
    await expect(tab.lock.acquire()).rejects.toMatchObject({ code: 'lease-mismatch' });
    void holder;
    browser.locks.die();
    await browser.clock.advance(0);
    expect((await first).didFallback).toBe(false);
  });

  it('also inside withProjectLock', async () => {
    const tab = new FakeBrowser().tab();
    const nested = tab.lock.with(undefined, () => tab.lock.with(undefined, async () => 'never'));
    await expect(nested).rejects.toMatchObject({ code: 'lease-mismatch' });
  });

  it('is told to whoever uses the lease of another tab', async () => {
    const browser = new FakeBrowser();
    const [holder, other] = [browser.tab(), browser.tab()];
    const { lease } = await holder.lock.acquire();
    await expect(other.lock.renew({ lease })).rejects.toMatchObject({ code: 'lease-mismatch' });
    await expect(other.lock.release({ lease })).rejects.toMatchObject({ code: 'lease-mismatch' });
    expect(other.probe.types).toEqual(['release-failed']);
    expect(browser.record).toMatchObject({ leaseId: lease.leaseId });
  });
});

describe('lease-expired', () => {
  it('is told to a release that comes too late, which gives the lease back all the same', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    browser.clock.jump(15_000);
    await expect(tab.lock.release({ lease })).rejects.toMatchObject({ code: 'lease-expired' });
    expect(tab.probe.types).toEqual(['acquired', 'expired']);
    expect(browser.record).toBeNull();
    expect(browser.locks.isHeld).toBe(false);
  });

  it('is told to a second release', async () => {
    const tab = new FakeBrowser().tab();
    const { lease } = await tab.lock.acquire();
    await tab.lock.release({ lease });
    await expect(tab.lock.release({ lease })).rejects.toMatchObject({ code: 'lease-expired' });
    expect(tab.probe.types).toEqual(['acquired', 'released']);
  });

  it.each([0, -1, 0.5, NaN, Infinity, 3_600_001])('is not what a renewal for %s ms comes to: the argument is wrong, and the lease goes on', async (extendByMs) => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const { lease } = await tab.lock.acquire();
    const renewed = tab.lock.renew({ lease, extendByMs });
    await expect(renewed).rejects.toBeInstanceOf(RangeError);
    await expect(renewed).rejects.toThrow(`extendByMs must be from 1 to 3600000, not ${extendByMs}`);
    expect(lease.signal?.aborted).toBe(false);
    expect(tab.probe.types).toEqual(['acquired']);
    await tab.lock.release({ lease });
  });
});
