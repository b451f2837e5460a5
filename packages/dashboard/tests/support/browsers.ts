// Debian's Chromium and Firefox, each with a profile of its own, and pages whose complaints are kept.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch as start, type Browser, type Page } from 'puppeteer-core';
import { expect } from 'vitest';

export type Engine = 'chromium' | 'firefox';

const PROGRAMS: Readonly<Record<Engine, string>> = {
  chromium: process.env['HOLDFAST_CHROMIUM'] ?? '/usr/bin/chromium',
  firefox: process.env['HOLDFAST_FIREFOX'] ?? '/usr/bin/firefox-esr',
};

/** What Chromium adds to its environment when it has threads already: what is there before is changed in its place. */
const ADDED_BY_CHROMIUM = { DBUS_SESSION_BUS_ADDRESS: 'disabled:', FC_FONTATIONS: '1' };

/** Whatever is waited for happens sooner or later; how soon is a matter of what else the machine does. */
export const PATIENCE = 60_000;

export interface Started {
  readonly browser: Browser;
  close(): Promise<void>;
}

/** `unheard`: without being told of every request and event of every page, which costs each of them more than the event does. */
export async function launch(engine: Engine, { unheard = false } = {}): Promise<Started> {
  const home = mkdtempSync(join(tmpdir(), `holdfast-${engine}-`));
  const browser = await start({
    browser: engine === 'firefox' ? 'firefox' : 'chrome',
    executablePath: PROGRAMS[engine],
    headless: true,
    networkEnabled: !unheard,
    userDataDir: join(home, 'profile'),
    args: engine === 'chromium' ? ['--no-sandbox', '--disable-gpu', '--lang=en-GB'] : [],
    env: { ...ADDED_BY_CHROMIUM, ...process.env, HOME: home, MOZ_CRASHREPORTER_DISABLE: '1', LANG: 'en_GB.UTF-8', TZ: 'UTC' },
    timeout: 120_000,
    protocolTimeout: 180_000,
  });
  const close = async () => {
    await browser.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  return { browser, close };
}

/** A page, with what the browser complained about. */
export interface Tab {
  readonly page: Page;
  readonly complaints: string[];
  /** Complaints that a test of this tab provokes. A browser may make them when that test is over: they are known by what they
   * say and by the address, never by when they come. */
  readonly provoked: RegExp[];
}

/** Complaints that any test may provoke: a server that it killed. */
const KILLED = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|can.t establish a connection|interrupted while the page|ERR_CONNECTION_RESET/;

export async function open({ browser }: Pick<Started, 'browser'>, url: string, size: { width: number; height: number } = { width: 1280, height: 900 }): Promise<Tab> {
  return watch(await browser.newPage(), url, size);
}

/** A page in a window of its own, with cookies of its own: both are seen, where a tab would hide the other. */
export async function openApart({ browser }: Started, url: string): Promise<Tab> {
  const context = await browser.createBrowserContext();
  return watch(await context.newPage(), url, { width: 1280, height: 900 });
}

/** As `openApart`, without the focus: on a screen one window has it, and without a screen a browser gives it to all. */
export async function openBeside({ browser }: Started, url: string): Promise<Tab> {
  const page = await (await browser.createBrowserContext()).newPage();
  await page.evaluateOnNewDocument(() => (document.hasFocus = () => false));
  return watch(page, url, { width: 1280, height: 900 });
}

/** Begins to watch for a page's `selector` to have some text, or not any more, and says when that was drawn. The second one is
 * there when the page watches: what sets it up would be measured otherwise. */
export function drawn(page: Page, selector: string, words: string, there: boolean): { readonly at: Promise<number>; readonly watching: Promise<unknown> } {
  const at = page.evaluate(
    (selector, words, there) =>
      new Promise<number>((done) => {
        const look = () => {
          if ((document.querySelector(selector)?.textContent ?? '').includes(words) !== there) return;
          observer.disconnect();
          // A message that is sent as a frame begins is heard when the page has handed that frame over.
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => done(Date.now());
          requestAnimationFrame(() => port2.postMessage(null));
        };
        const observer = new MutationObserver(look);
        observer.observe(document, { subtree: true, childList: true, characterData: true });
        look();
      }),
    selector,
    words,
    there,
  );
  // What is asked of a page is begun in the order in which it is asked.
  return { at, watching: page.evaluate(() => null) };
}

/** A page in a window of its own that nobody gave the token. */
export async function openLocked({ browser }: Started, url: string): Promise<Tab> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.goto(url);
  return { page, complaints: [], provoked: [] };
}

async function watch(page: Page, url: string, size: { width: number; height: number }): Promise<Tab> {
  const complaints: string[] = [];
  const provoked = [KILLED];
  page.on('console', (message) => {
    const complaint = `${message.text()} ${message.location().url ?? ''}`;
    if (['error', 'warn', 'assert'].includes(message.type()) && !provoked.some((one) => one.test(complaint))) complaints.push(complaint);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.setDefaultTimeout(PATIENCE);
  await resize(page, size);
  await page.goto(url);
  await page.waitForFunction(() => document.body.dataset['line'] === 'live' && document.querySelector('main h1') !== null);
  return { page, complaints, provoked };
}

/** Gives the page another size. A Firefox that knows no orientation of screens says so, and has the size all the same. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewport(size).catch((error: unknown) => {
    if (!String(error).includes('setScreenOrientationOverride')) throw error;
  });
  await page.waitForFunction(({ width, height }) => innerWidth === width && innerHeight === height, {}, size);
}

/** The text that somebody sees. */
export function text(page: Page, selector = 'main'): Promise<string> {
  return page.$eval(selector, (element) => (element as HTMLElement).innerText);
}

export async function sees(page: Page, wanted: string, selector = 'main'): Promise<void> {
  await expect.poll(() => text(page, selector), { timeout: PATIENCE, interval: 50 }).toContain(wanted);
}

export async function go(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
}

/** Clicks a button by its words, inside of something. It is found and clicked in one step: the page may draw in between. */
export async function press(page: Page, words: string, within = 'main'): Promise<void> {
  await page.waitForFunction(
    (words, within) => {
      const found = [...document.querySelectorAll<HTMLElement>(`${within} button, ${within} a`)].find((one) => one.innerText.trim() === words || one.getAttribute('aria-label') === words);
      found?.click();
      return found !== undefined;
    },
    {},
    words,
    within,
  );
}

/** Answers the dialog that is open. */
export async function answer(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  await page.waitForSelector('dialog[open] form');
  for (const [name, value] of Object.entries(values)) {
    const field = `dialog[open] [name=${name}]`;
    const choice = await page.$eval(field, (one) => one.localName === 'select');
    if (choice) {
      await page.select(field, value);
      continue;
    }
    await page.$eval(field, (one) => ((one as HTMLInputElement).value = ''));
    await page.type(field, value);
  }
  await page.$eval('dialog[open] button[type=submit]', (one) => (one as HTMLElement).click());
}

export async function isClosed(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('dialog[open]') === null);
}

export function version(engine: Engine): string {
  return execFileSync(PROGRAMS[engine], ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
