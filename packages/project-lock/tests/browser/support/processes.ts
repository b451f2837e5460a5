// The process that draws a tab of Chromium.

import type { Page } from 'playwright-core';
import { processOf, startWorkers } from './threads.js';

interface Process {
  readonly id: number;
  readonly type: string;
}

export async function rendererOf(page: Page): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error('the page has no browser');
  const session = await browser.newBrowserCDPSession();
  const renderers = async () => {
    const { processInfo } = (await session.send('SystemInfo.getProcessInfo')) as { processInfo: Process[] };
    return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  };
  try {
    return await processOf(renderers, (workers) => page.evaluate(startWorkers, workers));
  } finally {
    await session.detach();
  }
}
