// An eviction that needs approval: it waits among what needs a person, and whoever sees the page can say yes.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answer, go, launch, open, press, sees, type Engine, type Started, type Tab } from '../support/browsers.js';
import { World } from '../support/world.js';

describe.each(['chromium', 'firefox'] as const)('%s', (engine: Engine) => {
  let world: World;
  let browser: Started;
  let tab: Tab;

  beforeAll(async () => {
    world = new World();
    world.jit(['config', 'set', 'policy.force_evict', 'approved']);
    browser = await launch(engine);
    tab = await open(browser, await world.serve());
  });

  afterAll(async () => {
    await browser?.close();
    await world?.end();
  });

  test('it is shown, asked for, approved, and in the log', async () => {
    const { page } = tab;
    const issue = world.issue('Prune the pear');
    world.jit(['claim', 'acquire', issue], 'agent:ada');
    expect(() => world.jit(['claim', 'force-evict', issue, '--reason', 'its machine is gone'], 'agent:bob')).toThrow('needs approval');
    await go(page, '#/now');
    await sees(page, 'agent:bob asks to evict agent:ada: its machine is gone (1 approval missing)');
    const picture = process.env['HOLDFAST_PICTURE'];
    if (picture) await page.screenshot({ path: `${picture}-${engine}.png` as `${string}.png` });
    await press(page, 'Approve', '.needs');
    await answer(page, { reason: 'I saw it go' });
    await sees(page, 'Approved; agent:ada was evicted.', '#said');
    await sees(page, 'Nothing needs a person.');
    const { events } = world.json<{ events: { event_type: string; actor: { agent_id: string } }[] }>(['claim', 'history', '--issue', issue]);
    const by = (kind: string) => events.filter((event) => event.event_type === kind).map((event) => event.actor.agent_id);
    expect([by('eviction.requested'), by('eviction.approved')]).toEqual([['agent:bob'], ['person:eve']]);
    await go(page, `#/issue/${issue}`);
    await sees(page, 'Nobody holds it.');
    expect(tab.complaints).toEqual([]);
  });
});
