// What is found in storage may be anything. It is never believed beyond what a tab could have written, and never in the
// way for longer than a lease.

import { describe, expect, it } from 'vitest';
import { LONGEST_LEASE_MS, readBeside, readRecord, writeBeside, writeRecord } from '../../src/record.js';
import { needsRecord, step, type Ask } from '../../src/step.js';
import { FakeBrowser } from '../doubles/browser.js';

const NOW = 1_767_225_600_000;
const ID = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const YEAR_MS = 365 * 86_400_000;

const bad: [string, string][] = [
  ['an empty file', ''],
  ['bad JSON', '{"leaseId":'],
  ['zeros of a torn write', '\0'.repeat(90)],
  ['a list', '[]'],
  ['null', 'null'],
  ['a number', '17'],
  ['no members', '{}'],
  ['a leaseId that is no text', `{"leaseId":7,"expiresAt":${NOW}}`],
  ['a leaseId that is no UUID', `{"leaseId":"__proto__","expiresAt":${NOW}}`],
  ['an expiresAt that is a text', `{"leaseId":"${ID}","expiresAt":"${NOW}"}`],
  ['an expiresAt that is a fraction', `{"leaseId":"${ID}","expiresAt":${NOW}.5}`],
  ['an expiresAt below zero', `{"leaseId":"${ID}","expiresAt":-1}`],
  ['a member too many', `{"leaseId":"${ID}","expiresAt":${NOW},"more":1}`],
  ['a lease a year ahead', `{"leaseId":"${ID}","expiresAt":${NOW + YEAR_MS}}`],
];

describe('a bad record', () => {
  it.each(bad)('%s is none', (_name, text) => {
    expect(readRecord(text, NOW)).toBeNull();
  });

  it.each(bad)('%s is told, made anew and gone', async (_name, text) => {
    const browser = new FakeBrowser();
    browser.folder.record.text = text;
    const tab = browser.tab();
    const acquired = tab.lock.acquire();
    await browser.clock.advance(200);
    const { lease } = await acquired;
    expect(tab.probe.types).toEqual(['backoff', 'acquired']);
    expect(tab.probe.events[0]).toMatchObject({ error: { code: 'fallback-read-failed', retryable: true }, attempt: 1 });
    expect(browser.record).toEqual({ leaseId: lease.leaseId, expiresAt: lease.expiresAt });
  });

  it.each(bad)('%s does not cost a living holder its lease', async (_name, text) => {
    const browser = new FakeBrowser();
    const [holder, tab] = [browser.tab({ webLocks: false }), browser.tab({ webLocks: false })];
    const { lease } = await holder.lock.acquire();
    browser.folder.record.text = text;
    const failed = expect(tab.lock.acquire()).rejects.toMatchObject({ code: 'web-lock-unavailable' });
    await browser.clock.advance(5000);
    await failed;
    expect(tab.probe.of('backoff')[0]?.error?.code).toBe('fallback-read-failed');
    expect(lease.signal?.aborted).toBe(false);
    await holder.lock.release({ lease });
    expect(browser.record).toBeNull();
  });
});

describe('the counter', () => {
  const acquire = (leaseId: string): Ask => ({ type: 'acquire', leaseId, ttl: 15_000, webSince: null, mine: [] });
  const other = (n: number) => ID.replace(/a/g, String(n));

  it('rises across release, eviction, damage and loss', async () => {
    const browser = new FakeBrowser();
    const tab = browser.tab();
    const fences: number[] = [];
    const ways = [
      () => undefined,
      () => (browser.folder.beside.text = null),
      () => (browser.folder.beside.text = 'garbage'),
      () => (browser.folder.beside.text = '{"next":9007199254740991,"grant":null}'),
      () => (browser.folder.record.text = '') as unknown,
    ];
    for (const damage of ways) {
      const acquired = tab.lock.acquire();
      await browser.clock.advance(200);
      const { lease } = await acquired;
      fences.push(lease.fence as number);
      await tab.lock.release({ lease });
      damage();
      browser.clock.jump(1);
    }
    expect(fences).toEqual([...fences].sort((a, b) => a - b));
    expect(new Set(fences).size).toBe(fences.length);
  });

  it('also while the clock stands still or goes back a little', () => {
    let texts: { record: string | null; beside: string | null } = { record: null, beside: null };
    let last = 0;
    for (let round = 0; round < 50; round += 1) {
      const granted = step(texts, acquire(other(1)), NOW - round);
      if (granted.outcome.type !== 'done' || !granted.write) throw new Error('not granted');
      expect(granted.outcome.fence).toBeGreaterThan(last);
      last = granted.outcome.fence;
      const back = step(granted.write, { type: 'release', leaseId: other(1), mine: [other(1)] }, NOW - round);
      texts = back.write ?? texts;
    }
  });

  it('that was set back gives no fence twice', () => {
    const first = step({ record: null, beside: null }, acquire(other(1)), NOW);
    const second = step(first.write ?? { record: null, beside: null }, acquire(other(2)), NOW + 15_000, { unchangedMs: 15_000 });
    const third = step({ record: null, beside: first.write?.beside ?? null }, acquire(other(3)), NOW + 30_000);
    const fences = [first, second, third].map(({ outcome }) => (outcome.type === 'done' ? outcome.fence : 0));
    expect(fences).toEqual([...fences].sort((a, b) => a - b));
    expect(fences[0]).toBeGreaterThan(0);
  });
});

it('what is written is what is read', () => {
  const grant = { leaseId: ID, expiresAt: NOW + LONGEST_LEASE_MS, fence: 7, web: true, ttl: 15_000 };
  expect(writeRecord(grant)).toBe(`{"leaseId":"${ID}","expiresAt":${grant.expiresAt}}`);
  expect(readRecord(writeRecord(grant), NOW)).toEqual({ leaseId: ID, expiresAt: grant.expiresAt });
  expect(readBeside(writeBeside({ next: 8, grant }), NOW)).toEqual({ next: 8, grant });
  expect(readBeside(writeBeside({ next: 8, grant: null }), NOW)).toEqual({ next: 8, grant: null });
  expect(readBeside(null, NOW)).toBeNull();
  // What version 0.1 wrote is read: it kept no length.
  const { ttl: _, ...older } = grant;
  expect(readBeside(JSON.stringify({ next: 8, grant: older }), NOW)).toEqual({ next: 8, grant: { ...grant, ttl: LONGEST_LEASE_MS } });
});

describe('the record is read', () => {
  const grant = { leaseId: ID, expiresAt: NOW + 1000, fence: NOW, web: false, ttl: 15_000 };
  const mine = { leaseId: ID, mine: [ID] };
  const asks = {
    acquire: { type: 'acquire', leaseId: ID, ttl: 15_000, webSince: null, mine: [] },
    renew: { type: 'renew', ttl: 15_000, ...mine },
    check: { type: 'check', fence: NOW, ...mine },
    release: { type: 'release', ...mine },
  } satisfies Record<string, Ask>;
  const copies = {
    'of nobody': writeBeside({ next: NOW, grant: null }),
    'of this lease': writeBeside({ next: NOW, grant }),
    'of another': writeBeside({ next: NOW, grant: { ...grant, leaseId: ID.replace(/a/g, 'b') } }),
    'that is damaged': `{"next":${NOW},"grant":{"leaseId":7}}`,
    'that is not there': null,
  };
  /** All that may go without: whatever another tab did meanwhile, the copy tells. */
  const spared = ['acquire, absent, of nobody', 'release, absent, of this lease', 'release, there, of this lease'];

  it('by every step that another tab could have made a difference to', () => {
    const found: string[] = [];
    for (const [op, ask] of Object.entries(asks))
      for (const place of ['absent', 'there'])
        for (const [copy, beside] of Object.entries(copies))
          if (!needsRecord(beside, place === 'absent', ask, NOW)) found.push(`${op}, ${place}, ${copy}`);
    expect(found).toEqual(spared);
  });
});
