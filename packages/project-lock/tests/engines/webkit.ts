// Debian's WebKitGTK: its small browser on a virtual screen. Tabs are opened and closed over WebDriver, and talked to through
// sockets of their own: when the process of any tab dies, WebKit ends the session of the driver, and the other tabs go on.

import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Cleanup, end, environment, makeHome, start } from './child.js';
import { Courier, type Line } from './courier.js';
import { serve } from '../browser/support/server.js';
import { expressionOf, type Engine, type Tab } from './engine.js';
import { descendants } from './processes.js';

/** Nothing but the screen, and nothing that needs a graphics card. */
const SCREEN = { GDK_BACKEND: 'x11', GSETTINGS_BACKEND: 'memory', NO_AT_BRIDGE: '1', WEBKIT_DISABLE_COMPOSITING_MODE: '1' };

/** A start in some hundreds ends in a segmentation fault, or without a screen, before there is a tab. */
const STARTS = 5;
/** Without a browser for so long, the driver has none. */
const GONE_MS = 5000;

/** Beside the library, in a folder that has the name of the machine's architecture. */
function miniBrowser(): string {
  const folders = readdirSync('/usr/lib').flatMap((machine) =>
    ['webkit2gtk-4.1', 'webkitgtk-6.0', 'webkit2gtk-4.0'].map((library) => join('/usr/lib', machine, library, 'MiniBrowser')),
  );
  const found = process.env['HOLDFAST_WEBKIT'] ?? folders.find((path) => existsSync(path));
  if (!found) throw new Error('there is no MiniBrowser: apt-get install webkit2gtk-driver');
  return found;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

interface Driver {
  readonly pid: number;
  readonly root: string;
}

/** The driver does not say which port it has, so it is given one. Somebody else may be faster: then it ends, and gets another. */
async function startDriver(env: NodeJS.ProcessEnv, cleanup: Cleanup): Promise<Driver> {
  for (;;) {
    const root = `http://127.0.0.1:${await freePort()}`;
    const child = spawn('WebKitWebDriver', [`--port=${new URL(root).port}`], { env, stdio: 'ignore' });
    cleanup.add(() => end(child));
    const failed = new Promise<never>((_, fail) => child.once('error', fail));
    while (child.exitCode === null) {
      const answers = fetch(`${root}/status`).then(({ ok }) => ok, () => false);
      if ((await Promise.race([answers, failed])) && child.exitCode === null) return { pid: child.pid as number, root };
      await new Promise((wake) => setTimeout(wake, 20));
    }
  }
}

async function call<T>(method: string, url: string, body?: object): Promise<T> {
  const response = await fetch(url, { method, ...(body && { body: JSON.stringify(body) }) });
  const { value } = (await response.json()) as { value: unknown };
  if (response.ok) return value as T;
  const { error, message } = value as { error: string; message: string };
  throw new Error(`${error}: ${message}`);
}

/** Windows of one session. Each is switched to before it is talked to, so calls are made one after the other. */
class Windows {
  readonly #session: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: string) {
    this.#session = session;
  }

  in<T>(handle: string, method: string, path: string, body?: object): Promise<T> {
    const turn = this.#last.then(async () => {
      await call('POST', `${this.#session}/window`, { handle });
      return call<T>(method, `${this.#session}${path}`, body);
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

function tabIn(windows: Windows, handle: string, line: Line): Tab {
  return {
    evaluate: (work, argument) => line.run(expressionOf(work, argument)) as Promise<never>,
    reload: () => windows.in(handle, 'POST', '/refresh', {}),
    close: () => windows.in(handle, 'DELETE', '/window'),
  };
}

type Session = { readonly sessionId: string; readonly capabilities: { readonly browserVersion: string } };

class DiedAtStart extends Error {}

/** The driver waits for ever for a browser that dies as it starts, so it is watched meanwhile. */
async function newSession(driver: Driver, alwaysMatch: object): Promise<Session> {
  const made = call<Session>('POST', `${driver.root}/session`, { capabilities: { alwaysMatch } });
  for (let alive = performance.now(); performance.now() - alive < GONE_MS; ) {
    const session = await Promise.race([made, new Promise<null>((wake) => setTimeout(() => wake(null), 50))]);
    if (session) return session;
    if (descendants(driver.pid).length > 0) alive = performance.now();
  }
  made.catch(() => undefined);
  throw new DiedAtStart('the browser died as it started');
}

export async function startWebKit(): Promise<Engine> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce();
    } catch (error) {
      if (attempt === STARTS || !(error instanceof DiedAtStart)) throw error;
      console.warn(`${error.message}: it is started again`);
    }
  }
}

function startOnce(): Promise<Engine> {
  const cleanup = new Cleanup();
  return cleanup.unless(async () => {
    const home = await makeHome('webkit', cleanup);
    // A number that hardly anybody has: one that looks for a free number takes away the sockets of others as it goes.
    const words = [`:${randomInt(1000, 50_000)}`, '-displayfd', '1', '-screen', '0', '800x600x24', '-nolisten', 'tcp'];
    const screen = await start({ program: 'Xvfb', words, env: environment(home), ready: /(\d+)\n/, signal: 'SIGTERM' }, cleanup);
    const driver = await startDriver({ ...environment(home), ...SCREEN, DISPLAY: `:${screen.said}` }, cleanup);
    const courier = await Courier.start();
    cleanup.add(() => courier.stop());
    // The way to the name that is not trusted leads through a site of ours, which answers as the name would.
    const proxy = await serve();
    cleanup.add(() => proxy.close());
    const browser = {
      'webkitgtk:browserOptions': { binary: miniBrowser(), args: ['--automation'] },
      proxy: { proxyType: 'manual', httpProxy: `127.0.0.1:${proxy.port}`, noProxy: ['127.0.0.1'] },
    };
    const { sessionId, capabilities } = await newSession(driver, browser);
    const session = `${driver.root}/session/${sessionId}`;
    const windows = new Windows(session);
    // Stays open: a new window is asked for from one that is there.
    const first = await call<string>('GET', `${session}/window`);
    return {
      name: `WebKitGTK ${capabilities.browserVersion}`,
      pid: driver.pid,
      // They ask through the thread of the page.
      workersStoreAlone: false,
      async open(url) {
        const { handle } = await windows.in<{ handle: string }>(first, 'POST', '/window/new', { type: 'tab' });
        const { line, address } = courier.line();
        await windows.in(handle, 'POST', '/url', { url: `${url}&courier=${address}` });
        return tabIn(windows, handle, line);
      },
      isUsable: () => call('GET', `${session}/window/handles`).then(() => true, () => false),
      stop: () => cleanup.run(),
    };
  });
}
