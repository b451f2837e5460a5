// A real Chromium for each test, with a profile of its own that is gone afterwards; and tabs in it that run the built
// package, with the parts of the browser that a test wants them to have.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { serve, type Site } from './server.js';

/** What a tab is made to lack. */
export type Lack = 'locks' | 'opfs';

const PAGE = '/tests/browser/support/page.html';
/** A name that leads to this machine but is not trusted like it: an insecure context. */
export const INSECURE_HOST = 'project.test';

export class Chromium {
  readonly context: BrowserContext;
  readonly profile: string;
  readonly #site: Site;

  private constructor(context: BrowserContext, site: Site, profile: string) {
    this.context = context;
    this.#site = site;
    this.profile = profile;
  }

  static async start(): Promise<Chromium> {
    const profile = await mkdtemp(join(tmpdir(), 'holdfast-chromium-'));
    const site = await serve();
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: process.env['HOLDFAST_CHROMIUM'] ?? '/usr/bin/chromium',
      // Playwright switches the back/forward cache off; users have it.
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
      args: ['--no-sandbox', '--disable-gpu', '--site-per-process', `--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1`],
    });
    // Whatever is waited for happens sooner or later; how soon is a matter of what else the machine does.
    context.setDefaultTimeout(120_000);
    return new Chromium(context, site, profile);
  }

  /** A window whose storage is in memory and is gone when it is closed, as in private mode. */
  privateWindow(): Promise<BrowserContext> {
    const browser = this.context.browser();
    if (!browser) throw new Error('a persistent context without a browser');
    return browser.newContext();
  }

  async stop(): Promise<void> {
    await this.context.close();
    await this.#site.close();
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  url(path = PAGE, host = '127.0.0.1'): string {
    return `http://${host}:${this.#site.port}${path}`;
  }

  /** Opens a tab that lacks some of what the browser has. */
  async tab(lacks: readonly Lack[] = [], url = this.url()): Promise<Page> {
    const page = await this.context.newPage();
    await page.addInitScript((lacks) => {
      if (lacks.includes('locks')) Reflect.deleteProperty(Navigator.prototype, 'locks');
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
