// What every browser is held to: what each situation gives, who wins a race, and what becomes of tabs that are closed, killed
// or stopped. Waits are for conditions; how long they take is a matter of what else the machine does.

import { describe, expect, it } from 'vitest';
import { lastAnswer, standStill } from '../browser/support/still.js';
import { INSECURE_HOST, type Engine, type Tab } from './engine.js';
import { processOf } from './processes.js';
import {
  acquire, eventually, granted, hasOpfs, isLost, ONCE, PATIENT, queued, ready, REFUSED, release, renew, stored, types, until, World, type Lack,
} from './world.js';

const LONG = Boolean(process.env['HOLDFAST_LONG']);
const TABS = LONG ? 5 : 3;
const ROUNDS = Number(process.env['HOLDFAST_BROWSER_ROUNDS'] ?? (LONG ? 200 : 10));
const CYCLES = LONG ? 1000 : 20;
const TURNS = LONG ? 50 : 4;
/** So often a tab is killed at any moment of its worker's. */
const DEATHS = Array.from({ length: LONG ? 40 : 1 }, (_, death) => death + 1);
/** Longer than a lease lasts by itself: who has the project before that did not wait for its end. */
const MINUTES = 600_000;

export function scenarios(name: string, start: () => Promise<Engine>): void {
  describe(name, () => {
    const world = new World(start);
    situations(world);
    races(world);
    departures(world);
    standingStill(world);
  });
}

function situations(world: World): void {
  it.each([
    ['everything', [], 'web-lock'],
    ['no Web Locks', ['locks'], null],
    ['no OPFS', ['opfs'], 'web-lock'],
    ['neither', ['locks', 'opfs'], 'idb-lock'],
    ['no worker', ['worker'], 'web-lock'],
  ] as [string, Lack[], string | null][])('with %s a tab holds the project, and another one is refused', async (_name, lacks, source) => {
    const [holder, other] = (await world.tabs(2, lacks)) as [Tab, Tab];
    const { lease, error } = await acquire(holder);
    expect(error).toBeUndefined();
    expect(lease?.source).toBe(source ?? ((await hasOpfs(holder)) ? 'opfs-lock' : 'idb-lock'));
    // A beat moves the end of the lease; who holds it stays.
    await eventually(async () => JSON.parse(String((await stored(other))['.lock'])).leaseId).toBe(lease?.leaseId);
    expect(await acquire(other, ONCE)).toMatchObject(REFUSED);
    expect(await release(holder)).toEqual({});
    expect((await acquire(other)).lease?.fence).toBeGreaterThan(lease?.fence as number);
    expect(await release(other)).toEqual({});
  });

  it('an insecure context has the record in IndexedDB', async () => {
    const [holder, other] = [await world.tab([], INSECURE_HOST), await world.tab([], INSECURE_HOST)];
    expect(await holder.evaluate(() => isSecureContext)).toBe(false);
    expect(await acquire(holder)).toMatchObject({ lease: { source: 'idb-lock' }, didFallback: true });
    expect(await acquire(other, ONCE)).toMatchObject(REFUSED);
    expect(await release(holder)).toEqual({});
  });

  it.each([
    ['the Web Lock', []],
    ['the record', ['locks']],
    ['IndexedDB', ['locks', 'opfs']],
  ] as [string, Lack[]][])(`${CYCLES} cycles on %s have ${CYCLES} fences and leave no record`, async (_name, lacks) => {
    const tab = await world.tab(lacks);
    const fences = await tab.evaluate(async (cycles) => {
      const seen = new Set<number | undefined>();
      for (let cycle = 0; cycle < cycles; cycle += 1) {
        await window.tab.lock.withProjectLock({}, async ({ fence }) => void seen.add(fence));
      }
      return seen.size;
    }, CYCLES);
    expect(fences).toBe(CYCLES);
    await eventually(async () => Object.keys(await stored(tab))).toEqual(['.lock.fence']);
  });
}

const GROUNDS: [string, Lack[][]][] = [
  ['Web Locks', [[]]],
  ['the record', [['locks']]],
  ['IndexedDB', [['locks', 'opfs']]],
  ['Web Locks in some tabs', [[], ['locks']]],
  ['workers in some tabs', [['locks'], ['worker']]],
];

function races(world: World): void {
  it.each(GROUNDS)(`of ${TABS} tabs one wins, ${ROUNDS} times, and each has its ${TURNS} turns if they wait: %s`, async (_name, lacks) => {
    const conductor = await world.tab();
    const runners = await world.tabs(TABS, ...lacks);
    for (const tab of [conductor, ...runners]) await tab.evaluate(loadTheRace);
    for (const runner of runners) await runner.evaluate(() => (window as unknown as { runner(): Promise<void> }).runner());
    const report = await conductor.evaluate(
      ([tabs, rounds]) => (window as unknown as { conduct(...n: number[]): Promise<object> }).conduct(tabs as number, rounds as number),
      [TABS, ROUNDS],
    );
    expect(report, JSON.stringify(report)).toEqual({ none: 0, several: 0, falling: 0, codes: ['web-lock-unavailable'] });
    await Promise.all(runners.map((runner) => runner.evaluate(takeTurns, TURNS)));
    expect(await conductor.evaluate(() => window.count())).toBe(TABS * TURNS);
  });
}

/** Runs in the tab. */
function loadTheRace(): Promise<void> {
  return new Promise((loaded, failed) => {
    const script = document.createElement('script');
    Object.assign(script, { src: '/tests/browser/support/race.js', onload: () => loaded(), onerror: failed });
    document.head.append(script);
  });
}

/** Runs in the tab. */
async function takeTurns(turns: number): Promise<void> {
  const retryPolicy = { initialDelayMs: 5, maxDelayMs: 20, multiplier: 2, maxAttempts: Infinity };
  for (let turn = 0; turn < turns; turn += 1) {
    // Read, wait, write: two at once would lose one of their counts.
    await window.tab.lock.withProjectLock({ maxWaitMs: 120_000, retryPolicy }, async () => {
      const count = await window.count();
      await new Promise((wake) => setTimeout(wake, 1));
      await window.count(count + 1);
    });
  }
}

function departures(world: World): void {
  /** The holder goes away while another tab waits, which has the project then without having waited for the end of the lease. */
  const takeOver = async (leave: (holder: Tab) => Promise<unknown>) => {
    const [holder, next] = (await world.tabs(2, [])) as [Tab, Tab];
    await granted(holder);
    const { lease: first } = await renew(holder, MINUTES);
    const acquired = granted(next);
    await queued(next, 1);
    await leave(holder);
    const { lease } = await acquired;
    expect(lease?.fence).toBeGreaterThan(first?.fence as number);
    expect((lease?.expiresAt ?? Infinity) - 15_000).toBeLessThan(first?.expiresAt as number);
    expect(await release(next)).toEqual({});
  };

  it('the next tab has the project at once from one that is closed', () => takeOver((holder) => holder.close()));

  it('the next tab has the project at once from one that is reloaded, which holds nothing afterwards', () =>
    takeOver(async (holder) => {
      await holder.reload();
      await ready(holder);
      expect(await isLost(holder)).toBeNull();
    }));

  it('the next tab has the project at once from one whose process is killed', () =>
    takeOver(async (holder) => process.kill(await processOf(world.engine, holder), 'SIGKILL')));

  it.for(DEATHS)('without Web Locks the lease of a tab whose process is killed runs out, and the next one has it: %i', async () => {
    const [holder, next] = (await world.tabs(2, ['locks'])) as [Tab, Tab];
    const pid = await processOf(world.engine, holder);
    await granted(holder);
    const { lease: shorter } = await renew(holder, 2000);
    process.kill(pid, 'SIGKILL');
    const { lease } = await granted(next);
    expect(lease?.fence).toBeGreaterThan(shorter?.fence as number);
    expect((lease?.expiresAt ?? 0) - 15_000).toBeGreaterThanOrEqual(shorter?.expiresAt as number);
    expect(await types(next)).toContain('backoff');
    expect(await release(next)).toEqual({});
  });
}

function standingStill(world: World): void {
  /** Makes a holder that can be stopped, and gives what stops it until the next tab has the project. */
  const holderThatSleeps = async (lacks: Lack[], host: string) => {
    const [holder, next] = [await world.tab(lacks, host), await world.tab(lacks, host)];
    const pid = await processOf(world.engine, holder);
    return async () => {
      await granted(holder);
      const { lease: slept } = await renew(holder, 6000);
      try {
        await standStill(pid, () => acquire(next, ONCE));
        const { lease, didFallback } = await granted(next);
        expect(didFallback).toBe(true);
        expect(lease?.fence).toBeGreaterThan(slept?.fence as number);
        expect((lease?.expiresAt ?? 0) - 15_000).toBeGreaterThanOrEqual(slept?.expiresAt as number);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      expect(await lastAnswer(() => renew(holder, 6000))).toMatchObject({ error: { code: 'lease-expired', retryable: false } });
      expect(await isLost(holder)).toBe(true);
      expect((await types(holder)).filter((type) => type === 'expired')).toEqual(['expired']);
      expect(await isLost(next)).toBe(false);
      expect(await release(next)).toEqual({});
    };
  };

  it('a tab whose process is stopped is displaced after its lease, and refused when it wakes: on Web Locks, on the record', async () => {
    // At once, because that is mostly waiting; two names of this machine are two origins.
    const sleep = [await holderThatSleeps([], '127.0.0.1'), await holderThatSleeps(['locks'], 'localhost')];
    await Promise.all(sleep.map((displace) => displace()));
  });

  it('a page that is too busy for its own timers keeps the project if its worker can beat, and is told otherwise', async () => {
    const { workersStoreAlone } = world.engine;
    // A worker that has to beat in time is given some; one that cannot anyway needs none.
    const [leaseMs, waitMs, busyMs] = workersStoreAlone ? [8000, 9500, 10_000] : [1000, PATIENT.maxWaitMs, 2500];
    const [holder, next] = (await world.tabs(2, ['locks'])) as [Tab, Tab];
    await granted(holder);
    const { lease: first } = await renew(holder, leaseMs);
    const asked = acquire(next, { ...PATIENT, maxWaitMs: waitMs });
    const lost = await holder.evaluate((ms) => {
      for (const start = performance.now(); performance.now() - start < ms; );
      return window.tab.isLost();
    }, busyMs);
    const { lease, error } = await asked;
    if (workersStoreAlone) {
      expect([lost, error?.code]).toEqual([false, 'web-lock-unavailable']);
      return expect(await release(holder)).toEqual({});
    }
    expect(lease?.fence).toBeGreaterThan(first?.fence as number);
    await until(async () => (await isLost(holder)) === true);
    expect((await types(holder)).filter((type) => type === 'expired')).toEqual(['expired']);
    expect(await release(next)).toEqual({});
  });
}
