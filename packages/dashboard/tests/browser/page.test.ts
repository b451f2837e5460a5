// The page in both browsers: getting in, what happens as it happens, every action, the keyboard, hostile text, a server that dies.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { answer, go, isClosed, launch, open, openApart, PATIENCE, press, sees, text, version, type Engine, type Started, type Tab } from '../support/browsers.js';
import { World } from '../support/world.js';

describe.each(['chromium', 'firefox'] as const)('%s', (engine: Engine) => {
  let world: World;
  let browser: Started;
  let tab: Tab;

  beforeAll(async () => {
    console.log(version(engine));
    world = new World();
    world.jit(['gate', 'define', 'review', '--title', 'Somebody has read it', '--manual']);
    browser = await launch(engine);
    tab = await open(browser, await world.serve());
  });

  afterEach(() => {
    expect(tab.complaints.splice(0)).toEqual([]);
  });

  afterAll(async () => {
    await browser?.close();
    await world?.end();
  });

  const claimed = (issue: string) => world.json<{ leases: { agent_id: string; fence: number; ttl_secs: number }[] }>(['claim', 'status', '--issue', issue]).leases[0];

  test('the token leaves the address, and no script can read the cookie', async () => {
    const { page } = tab;
    expect(page.url()).toMatch(/\/#\/now$/);
    expect(await page.evaluate(() => document.cookie)).toBe('');
    const cookies = await browser.browser.cookies();
    expect(cookies.filter((cookie) => cookie.name.startsWith('jit-')).map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite }))).toEqual([{ httpOnly: true, sameSite: 'Strict' }]);
  });

  test('whoever has no cookie sees no data, and gets in with the address', async () => {
    const other = await browser.browser.createBrowserContext();
    const page = await other.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.goto(world.url.split('#')[0] ?? '');
    await sees(page, 'This page needs the token');
    await page.type('input[name=token]', 'wrong');
    await page.keyboard.press('Enter');
    await sees(page, 'no token, no cookie', '#said');
    await page.$eval('input[name=token]', (one) => ((one as HTMLInputElement).value = ''));
    await page.type('input[name=token]', world.url);
    await page.keyboard.press('Enter');
    await sees(page, 'Needs a person');
    await other.close();
  });

  test('a claim made in a shell is on the page within a second', async () => {
    const { page } = tab;
    await go(page, '#/now');
    // Firefox has both as tabs of one window, where one hides the other.
    const second = engine === 'chromium' ? await openApart(browser, world.url) : tab;
    const took: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const issue = world.issue(`Water the seedlings, row ${round}`);
      world.jit(['claim', 'acquire', issue]);
      const from = performance.now();
      const words = `Water the seedlings, row ${round}`;
      const shown = (one: Tab) => one.page.waitForFunction((words) => document.querySelector('.lanes')?.textContent?.includes(words), { polling: 10 }, words);
      await Promise.all([shown(tab), shown(second)]);
      took.push(performance.now() - from);
      world.jit(['claim', 'release', issue]);
    }
    took.sort((a, b) => a - b);
    console.log(`${engine}: from the end of the command to the page: p50 ${took[4]?.toFixed(0)} ms, longest ${took[9]?.toFixed(0)} ms`);
    // How long it takes at most is the machine's affair, too: half of them are the page's.
    expect(took[4]).toBeLessThan(1000);
    expect(second.complaints).toEqual([]);
    if (second !== tab) await second.page.browserContext().close();
    await page.bringToFront();
  });

  test('of several tabs one listens for all, and another one when that is closed', async () => {
    const { page } = tab;
    await go(page, '#/board');
    const second = await open(browser, world.url);
    world.issue('Seen by the second tab');
    await go(second.page, '#/board');
    await sees(second.page, 'Seen by the second tab');
    await second.page.close();
    await page.bringToFront();
    await sees(page, 'Seen by the second tab');
    world.issue('Seen by the first tab again');
    await sees(page, 'Seen by the first tab again');
  });

  test('every action, with its answer', async () => {
    const { page } = tab;
    const issue = world.issue('Oil the gate', '--gate', 'review');
    await go(page, `#/issue/${issue}`);
    await sees(page, 'Nobody holds it.');
    await press(page, 'Claim');
    await answer(page, { ttl: '300' });
    await sees(page, 'Claimed, with fence', '#said');
    await sees(page, 'Held by person:eve');
    expect(claimed(issue)).toMatchObject({ agent_id: 'person:eve', ttl_secs: 300 });
    // What is left is counted from when it was looked, whatever the age of the board.
    await page.waitForFunction(() => {
      const [, minutes = 0, secs = 0] = /(\d+):(\d+) left of 5:00/.exec(document.querySelector('.holder .num')?.textContent ?? '') ?? [];
      const since = / for (\d+) s,/.exec(document.querySelector('.holder')?.textContent ?? '')?.[1];
      return since !== undefined && Number(since) >= 2 && Math.abs(Number(minutes) * 60 + Number(secs) + Number(since) - 300) <= 2;
    });
    await press(page, 'Renew');
    await answer(page, { ttl: '900' });
    await sees(page, 'Renewed until', '#said');
    expect(claimed(issue)?.ttl_secs).toBe(900);
    await press(page, 'Add a note');
    await answer(page, { text: 'The hinge is rusty' });
    await sees(page, 'The hinge is rusty');
    await press(page, 'Fail the gate review');
    await answer(page, { note: 'it still squeaks' });
    await sees(page, 'it still squeaks');
    await press(page, 'Pass the gate review');
    await answer(page, { note: 'silent now' });
    await sees(page, 'silent now');
    expect(world.json<{ open: string[] }>(['gate', 'status', issue]).open).toEqual([]);
    await page.select('main .buttons select', 'in_progress');
    await answer(page, {});
    await sees(page, 'In progress');
    // The words are among the choices from the beginning: the answer is there when the dialog is gone.
    await isClosed(page);
    const tree = world.json<{ worktrees: { worktree_id: string }[] }>(['worktree', 'list']).worktrees[0]?.worktree_id ?? '';
    await press(page, 'Transfer');
    await answer(page, { agent: 'agent:finn', worktree: tree, reason: 'holiday' });
    await sees(page, 'Held by agent:finn');
    expect(claimed(issue)?.agent_id).toBe('agent:finn');
    await press(page, 'Evict');
    await answer(page, { reason: 'back from holiday' });
    await sees(page, 'Nobody holds it.');
    await sees(page, 'evicted by person:eve: back from holiday');
    await press(page, 'Claim');
    await answer(page, {});
    await sees(page, 'Held by person:eve');
    await press(page, 'Release');
    await answer(page, {});
    await sees(page, 'Nobody holds it.');
    expect(claimed(issue)).toBeUndefined();
  });

  test('a refusal is shown with its advice, and what was typed stays', async () => {
    const { page } = tab;
    tab.provoked.push(/status of 409 .*\/api\/claims$/);
    const issue = world.issue('Sharpen the scythe');
    await go(page, `#/issue/${issue}`);
    await sees(page, 'Nobody holds it.');
    await press(page, 'Claim');
    await page.waitForSelector('dialog[open]');
    world.jit(['claim', 'acquire', issue]);
    await answer(page, { ttl: '777', reason: 'because' });
    await sees(page, 'agent:ada', 'dialog .refusal');
    expect(await page.$eval('dialog [name=reason]', (one) => (one as HTMLInputElement).value)).toBe('because');
    await page.keyboard.press('Escape');
    await isClosed(page);
    // Only of one's own is more than an eviction offered.
    await sees(page, 'Held by agent:ada');
    expect(await page.$$eval('.holder button', (all) => all.map((one) => (one as HTMLElement).innerText))).toEqual(['Evict']);
  });

  test('with the keyboard alone', async () => {
    const { page } = tab;
    const issue = world.issue('Whitewash the cellar');
    await go(page, '#/now');
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press('2');
    await sees(page, 'Whitewash the cellar');
    await page.keyboard.press('/');
    await page.keyboard.type('whitewash');
    await expect.poll(() => page.$$eval('.card', (all) => all.length), { timeout: PATIENCE }).toBe(1);
    expect(page.url()).toContain('q=whitewash');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await sees(page, 'Nobody holds it.');
    expect(page.url()).toContain(issue);
    const reach = async (words: string) => {
      for (let steps = 0; steps < 40; steps += 1) {
        if ((await page.evaluate(() => (document.activeElement as HTMLElement | null)?.innerText)) === words) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`${words} cannot be reached`);
    };
    await reach('Claim');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.type('120');
    await page.keyboard.press('Enter');
    await sees(page, 'Held by person:eve');
    await page.keyboard.press('?');
    await sees(page, 'next and previous issue', 'dialog');
    await page.keyboard.press('Escape');
    await isClosed(page);
    world.jit(['claim', 'force-evict', issue, '--reason', 'enough']);
  });

  test('script in every field is text', async () => {
    const { page } = tab;
    tab.provoked.push(/status of 4(04|22) .*\/api\/.*%3Cimg%20src%3Dx%20onerror%3Dalert/);
    const evil = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>"'`;
    const issue = world.issue(evil, '--description', evil, '--gate', 'review', '--label', 'a<b>');
    world.jit(['claim', 'acquire', issue, '--reason', evil]);
    world.jit(['gate', 'fail', issue, 'review', '--note', evil]);
    world.jit(['note', issue, evil]);
    world.jit(['issue', 'update', issue, '--link', `pull_request=javascript:window.hit=1`, '--assignee', 'agent:x', '--state', 'gated']);
    for (const hash of ['#/now', '#/board', `#/board?q=${encodeURIComponent('<img')}`, `#/issue/${issue}`, '#/graph?over=1', '#/history']) {
      await go(page, hash);
      await page.waitForFunction((at) => location.hash === at && document.querySelector('main h1') !== null, {}, hash);
      if (!hash.startsWith('#/graph')) await sees(page, hash === '#/history' ? 'agent:ada' : '<img src=x');
      const found = await page.evaluate(() => ({
        hit: 'hit' in window,
        images: document.querySelectorAll('main img, main script').length,
        links: [...document.querySelectorAll('main a')].map((one) => one.getAttribute('href') ?? '').filter((to) => !to.startsWith('#/')),
      }));
      expect(found, hash).toEqual({ hit: false, images: 0, links: [] });
    }
    world.jit(['claim', 'force-evict', issue, '--reason', evil]);
    await go(page, `#/issue/${encodeURIComponent('<img src=x onerror=alert(1)>')}`);
    await page.waitForSelector('.banner.bad');
    await go(page, '#/now');
    await sees(page, 'At work');
  });

  test('what one reads stays: focus, scrolling, what is folded open, selected and typed', async () => {
    const { page } = tab;
    const issue = world.issue('Count the bees', '--description', Array.from({ length: 80 }, (_, line) => `Hive ${line}`).join('\n'));
    world.jit(['note', issue, 'first note']);
    await go(page, `#/issue/${issue}`);
    await sees(page, 'Hive 79');
    await press(page, 'Add a note');
    await page.waitForSelector('dialog[open] textarea');
    await page.type('dialog textarea', 'half a sent');
    await page.evaluate(() => {
      window.scrollTo(0, 500);
      const node = document.querySelector('.text')?.firstChild;
      if (node) getSelection()?.setBaseAndExtent(node, 3, node, 20);
    });
    const before = await page.evaluate(() => [Math.round(scrollY), String(getSelection())]);
    world.jit(['note', issue, 'second note']);
    world.jit(['claim', 'acquire', issue]);
    await sees(page, 'second note');
    await sees(page, 'Held by agent:ada');
    expect(await page.$eval('dialog textarea', (one) => (one as HTMLTextAreaElement).value)).toBe('half a sent');
    const [at, selected] = await page.evaluate(() => [Math.round(scrollY), String(getSelection())] as const);
    expect(selected).toBe(before[1]);
    expect(Math.abs(at - Number(before[0]))).toBeLessThan(200);
    await page.keyboard.press('Escape');
    await isClosed(page);
  });

  test('a server that was killed: the page says so, keeps what it has, and comes back by itself', async () => {
    const { page } = tab;
    await go(page, '#/board');
    await sees(page, 'Count the bees');
    await world.kill();
    await sees(page, 'The server does not answer', '#banner');
    await sees(page, 'Count the bees');
    world.issue('Bring in the hay');
    await world.serve();
    await sees(page, 'Bring in the hay');
    await page.waitForFunction(() => document.body.dataset['line'] === 'live' && document.querySelector('#banner')?.textContent === '');
  });

  test('a log that is damaged is told of, and forgotten when it is mended', async () => {
    const { page } = tab;
    tab.provoked.push(/status of 500 .*\/api\//);
    await go(page, '#/now');
    const log = join(world.repo, '.git', 'jit', 'claims.jsonl');
    const good = readFileSync(log);
    const bad = Buffer.from(good);
    bad[10] = (bad[10] ?? 0) ^ 0xff;
    writeFileSync(log, bad);
    rmSync(join(world.repo, '.git', 'jit', 'claims.index.json'), { force: true });
    await sees(page, 'cannot be read', '#banner');
    expect(await text(page)).toContain('At work');
    writeFileSync(log, good);
    await page.waitForFunction(() => document.body.dataset['line'] === 'live');
  });
});
