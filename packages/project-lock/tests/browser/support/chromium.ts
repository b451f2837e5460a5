// A real Chromium for each test, with a profile of its own that is gone afterwards; and tabs in it that run the built
// package, with the parts of the browser that a test wants them to have.

import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { launch } from '../../../scripts/chromium.mjs';
import { serve, type Site } from './server.js';

/** What a tab is made to lack. */
export type Lack = 'locks' | 'opfs' | 'worker';

const PAGE = '/tests/browser/support/page.html';
/** A name that leads to this machine but is not trusted like it: an insecure context. */
export const INSECURE_HOST = 'project.test';

export class Chromium {
  readonly context: BrowserContext;
  readonly profile: string;
  readonly #site: Site;
  readonly #close: () => Promise<void>;

  private constructor({ context, profile, close }: Awaited<ReturnType<typeof launch>>, site: Site) {
    this.context = context;
    this.profile = profile;
    this.#close = close;
    this.#site = site;
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<Chromium> {
    const launched = await launch({
      // Playwright switches the back/forward cache off; users have it.
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
      args: ['--site-per-process', `--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1`],
      env,
    });
    // Whatever is waited for happens sooner or later; how soon is a matter of what else the machine does.
    launched.context.setDefaultTimeout(120_000);
    return new Chromium(launched, await serve());
  }

  /** A window whose storage is in memory and is gone when it is closed, as in private mode. */
  privateWindow(): Promise<BrowserContext> {
    const browser = this.context.browser();
    if (!browser) throw new Error('a persistent context without a browser');
    return browser.newContext();
  }

  async stop(): Promise<void> {
    await this.#close();
    await this.#site.close();
  }

  url(path = PAGE, host = '127.0.0.1'): string {
    return `http://${host}:${this.#site.port}${path}`;
  }

  /** Opens a tab that lacks some of what the browser has. */
  async tab(lacks: readonly Lack[] = [], url = this.url()): Promise<Page> {
    const page = await this.context.newPage();
    await page.addInitScript((lacks) => {
      if (lacks.includes('locks')) Reflect.deleteProperty(Navigator.prototype, 'locks');
      if (lacks.includes('worker')) Reflect.deleteProperty(window, 'Worker');
      if (lacks.includes('opfs')) Reflect.deleteProperty(StorageManager.prototype, 'getDirectory');
    }, lacks);
    await page.goto(url);
    await ready(page);
    return page;
  }
}

/** Waits until the tab has loaded the package. */
export async function ready(page: Page): Promise<void> {
  await page.waitForFunction(() => 'tab' in window);
}

/** Waits until so many tabs are in the queue for the Web Lock. */
export async function waiting(page: Page, tabs: number): Promise<void> {
  const queued = () => page.evaluate(async () => (await navigator.locks.query()).pending?.length);
  // Not `waitForFunction`, which takes the promise of an asynchronous function for its answer.
  await expect.poll(queued, { timeout: 120_000 }).toBe(tabs);
}
