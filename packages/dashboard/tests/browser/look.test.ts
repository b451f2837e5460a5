// What every view looks like, narrow and wide, light and dark. HOLDFAST_SCREENSHOTS names a folder for pictures of all of it;
// `docs` makes those of the documentation.

import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answer, go, isClosed, launch, open, openApart, openLocked, press, resize, sees, type Started, type Tab } from '../support/browsers.js';
import { orchard, type Orchard } from '../support/orchard.js';
import { World } from '../support/world.js';

const WANTED = process.env['HOLDFAST_SCREENSHOTS'] ?? '';
const DOCS = new URL('../../../../docs/pictures', import.meta.url).pathname;
const OF_DOCS = ['now-light-1280', 'now-dark-390', 'board-dark-1280', 'issue-light-1280', 'graph-light-1280', 'history-light-1280', 'locks-light-1280'];

/** Keeps a picture, if it is wanted. */
async function picture({ page }: Tab, name: string): Promise<void> {
  if (WANTED === '' || (WANTED === 'docs' && !OF_DOCS.includes(name))) return;
  const folder = WANTED === 'docs' ? DOCS : WANTED;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `dashboard-${name}.png`) });
}

let world: World;
let trees: Orchard;
let browser: Started;
let tab: Tab;
/** A page that is refused something, which a browser complains about. */
let busy: Tab;
/** A repository in which nothing has happened, and a page that does not know the token. */
let bare: World;
let blank: Tab;
let stranger: Tab;

beforeAll(async () => {
  world = new World();
  trees = await orchard(world);
  browser = await launch('chromium');
  const vault = join(world.root, 'vault');
  world.other('kc_cli', ['vault', 'init', vault]);
  world.other('kc_cli', ['doc', 'add', vault, 'chapter-1']);
  world.other('kc_cli', ['lineage', 'lock', 'acquire', vault, 'chapter-1', 'bert']);
  tab = await open(browser, await world.serve('--also', vault, '--also', join(world.root, 'nowhere')));
  busy = await openApart(browser, world.url);
  bare = new World();
  blank = await openApart(browser, await bare.serve());
  stranger = await openLocked(browser, bare.url.replace(/#.*/, ''));
});

afterAll(async () => {
  await browser?.close();
  await world?.end();
  await bare?.end();
});

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Found {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What an accessibility checker has against the page, as far as it is serious. */
async function barriers({ page }: Tab): Promise<string[]> {
  await page.evaluate(AXE);
  const found = (await page.evaluate("axe.run().then((result) => result.violations)")) as readonly Found[];
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
}

/** The parts of a page that somebody would have to scroll to the side for. */
function wide(): string[] {
  const over = [...document.querySelectorAll('body *')].filter((element) => {
    if (element.closest('.scroll, .columns, pre, .track, .skip')) return false;
    return element.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
  });
  return over.map((element) => element.outerHTML.slice(0, 80));
}

describe.each([
  ['light', 390, 844],
  ['light', 1920, 1080],
  ['dark', 390, 844],
  ['dark', 1920, 1080],
  ['light', 1280, 800],
  ['dark', 1280, 800],
] as const)('%s at %i pixels', (scheme, width, height) => {
  const views = () =>
    [
      ['now', '#/now', 'agent:bert asks to evict agent:eli'],
      ['board', '#/board', 'In progress'],
      ['issue', `#/issue/${trees.press}`, 'Repair the cider press'],
      ['graph', '#/graph', 'also what is over'],
      ['history', '#/history?last=1h', 'agent:bert'],
      ['locks', '#/locks', 'chapter-1'],
    ] as const;

  test('every view fits', async () => {
    const { page, complaints } = tab;
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await resize(page, { width, height });
    for (const [name, hash, words] of views()) {
      await go(page, hash);
      await sees(page, words);
      expect(await page.evaluate(wide), name).toEqual([]);
      expect(await barriers(tab), name).toEqual([]);
      await picture(tab, `${name}-${scheme}-${width}`);
    }
    expect(complaints).toEqual([]);
  });

  const fits = async (tab: Tab, name: string) => {
    expect(await tab.page.evaluate(wide), name).toEqual([]);
    expect(await barriers(tab), name).toEqual([]);
    await picture(tab, `${name}-${scheme}-${width}`);
  };

  const dressed = async ({ page }: Tab) => {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await resize(page, { width, height });
  };

  // In between, only the views: what is left is the same parts.
  if (width === 1280) return;

  test('so does what is asked, and what is refused', async () => {
    await dressed(busy);
    await go(busy.page, '#/now');
    await press(busy.page, 'Keys', 'header');
    await fits(busy, 'keys');
    await busy.page.keyboard.press('Escape');
    await isClosed(busy.page);
    await press(busy.page, 'Approve');
    await fits(busy, 'approve');
    await busy.page.keyboard.press('Escape');
    await isClosed(busy.page);
    await go(busy.page, `#/issue/${trees.fence}`);
    await press(busy.page, 'Claim');
    // Longer than any claim may be.
    await answer(busy.page, { ttl: '99999999' });
    await busy.page.waitForSelector('dialog .refusal');
    await fits(busy, 'refused');
    await busy.page.keyboard.press('Escape');
    await isClosed(busy.page);
    await go(busy.page, '#/issue/01K8ZZZZZZ0000000000000001');
    await sees(busy.page, 'there is no issue');
    await fits(busy, 'no-issue');
  });

  test('so does what is empty, and what is locked', async () => {
    await dressed(blank);
    const empty = [['now', 'Nobody holds'], ['board', 'There is no issue yet'], ['graph', 'No open issue depends'], ['history', 'Nobody'], ['locks', 'Nobody holds anything']] as const;
    for (const [name, words] of empty) {
      await go(blank.page, `#/${name}`);
      await sees(blank.page, words);
      await fits(blank, `empty-${name}`);
    }
    await dressed(stranger);
    await sees(stranger.page, 'Who are you?');
    await fits(stranger, 'locked');
    expect(blank.complaints).toEqual([]);
  });
});

test('a server that is gone is said at every size', async () => {
  await bare.kill();
  for (const [scheme, width] of [['light', 390], ['dark', 390], ['light', 1920], ['dark', 1920]] as const) {
    await blank.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await resize(blank.page, { width, height: 800 });
    await go(blank.page, '#/now');
    await sees(blank.page, 'does not answer', '#banner');
    expect(await blank.page.evaluate(wide)).toEqual([]);
    expect(await barriers(blank)).toEqual([]);
    await picture(blank, `away-${scheme}-${width}`);
  }
});
