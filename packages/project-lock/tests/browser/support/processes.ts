// Which process draws a tab. The browser does not say, so the tab is made to work for a moment, and the process whose
// processor time grows is the one.

import type { Page } from 'playwright-core';

interface Process {
  readonly id: number;
  readonly type: string;
  readonly cpuTime: number;
}

const BUSY_MS = 300;

export async function rendererOf(page: Page): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error('the page has no browser');
  const session = await browser.newBrowserCDPSession();
  const renderers = async () => {
    const { processInfo } = (await session.send('SystemInfo.getProcessInfo')) as { processInfo: Process[] };
    return processInfo.filter(({ type }) => type === 'renderer');
  };
  try {
    for (;;) {
      const before = new Map((await renderers()).map(({ id, cpuTime }) => [id, cpuTime]));
      await page.evaluate((ms) => {
        for (const start = performance.now(); performance.now() - start < ms; );
      }, BUSY_MS);
      const grown = (await renderers())
        .map(({ id, cpuTime }) => ({ id, worked: cpuTime - (before.get(id) ?? cpuTime) }))
        .sort((a, b) => b.worked - a.worked);
      const [first, second] = grown;
      if (first && first.worked > 0.05 && first.worked > 3 * (second?.worked ?? 0)) return first.id;
    }
  } finally {
    await session.detach();
  }
}
