// What every scenario starts from: a browser, and for each test a site of its own, so that nothing is left from another one;
// and what is done with a tab.

import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Page } from 'playwright-core';
import { serve, type Site } from '../browser/support/server.js';
import { files, rows } from '../browser/support/storage.js';
import type { Engine, Tab } from './engine.js';

export type Lack = 'locks' | 'opfs' | 'worker';

/** Whatever is waited for happens sooner or later; how soon is a matter of what else the machine does. */
const PATIENCE = { timeout: 180_000, interval: 50 };
export const PATIENT = { maxWaitMs: 150_000, retryPolicy: { initialDelayMs: 50, maxDelayMs: 200, multiplier: 2, maxAttempts: 1e9 } };
export const ONCE = { maxWaitMs: 0 };
export const REFUSED = { error: { code: 'web-lock-unavailable' } };

export class World {
  #engine: Engine | undefined;
  #site: Site | undefined;
  #tabs: Tab[] = [];

  constructor(start: () => Promise<Engine>) {
    beforeAll(async () => void (this.#engine = await start()));
    afterAll(() => this.#engine?.stop());
    beforeEach(async () => void (this.#site = await serve()));
    afterEach(async () => {
      // One whose process was killed may be gone already.
      await Promise.all(this.#tabs.splice(0).map((tab) => tab.close().catch(() => undefined)));
      await this.#site?.close();
      if (await this.engine.isUsable()) return;
      await this.engine.stop();
      this.#engine = await start();
    });
  }

  get engine(): Engine {
    if (!this.#engine) throw new Error('the browser was not started');
    return this.#engine;
  }

  /** Opens a tab that lacks some of what the browser has, and waits until it has loaded the package. */
  async tab(lacks: readonly Lack[] = [], host = '127.0.0.1'): Promise<Tab> {
    const tab = await this.engine.open(`http://${host}:${this.#site?.port}/tests/engines/page.html?lacks=${lacks.join()}`);
    this.#tabs.push(tab);
    await ready(tab);
    return tab;
  }

  tabs(count: number, ...lacks: readonly Lack[][]): Promise<Tab[]> {
    return Promise.all(Array.from({ length: count }, (_, at) => this.tab(lacks[at % lacks.length])));
  }
}

export const eventually = (value: () => Promise<unknown>): ReturnType<typeof expect.poll> => expect.poll(value, PATIENCE);
export const until = (condition: () => Promise<boolean>) => eventually(condition).toBe(true);
export const ready = (tab: Tab) => until(() => tab.evaluate(() => 'tab' in window));

export const acquire = (tab: Tab, options: object = PATIENT) => tab.evaluate((options) => window.tab.acquire(options), options);
/** Acquires, and shows why if that is refused. */
export async function granted(tab: Tab) {
  const { error, ...rest } = await acquire(tab);
  expect(error).toBeUndefined();
  expect(rest.lease, JSON.stringify(rest)).toMatchObject({ fence: expect.any(Number) });
  return rest;
}
export const release = (tab: Tab) => tab.evaluate(() => window.tab.release());
export const renew = (tab: Tab, ms: number) => tab.evaluate((ms) => window.tab.renew(ms), ms);
export const isLost = (tab: Tab) => tab.evaluate(() => window.tab.isLost());
export const types = (tab: Tab) => tab.evaluate(() => window.tab.events.map(({ type }) => type));
export const hasOpfs = (tab: Tab) => tab.evaluate(() => typeof navigator.storage?.getDirectory === 'function');

/** Waits until so many tabs are in the queue for the Web Lock. */
export function queued(tab: Tab, tabs: number): Promise<void> {
  return until(() => tab.evaluate(async (tabs) => (await navigator.locks.query()).pending?.length === tabs, tabs));
}

/** What is stored, by name, wherever the record is. */
export async function stored(tab: Tab): Promise<Record<string, unknown>> {
  // They evaluate, and do nothing else with a page.
  const page = tab as unknown as Page;
  if (!(await hasOpfs(tab))) return rows(page);
  const found = Object.entries(await files(page));
  return Object.fromEntries(found.map(([path, text]) => [path.replace('project/', ''), text]));
}
