// Debian's Firefox over WebDriver BiDi, with a profile of its own.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { Cleanup, environment, makeHome, start } from './child.js';
import { expressionOf, INSECURE_HOST, type Engine, type Tab } from './engine.js';

const FIREFOX = process.env['HOLDFAST_FIREFOX'] ?? '/usr/bin/firefox-esr';

const PREFERENCES = {
  // Only one tab is in front; the timers of the others would go once a second.
  'dom.min_background_timeout_value': 4,
  'dom.min_background_timeout_value_without_budget_throttling': 4,
  'dom.timeout.enable_budget_timer_throttling': false,
  // Each tab has a process of its own, so that one can be killed.
  'dom.ipc.processCount.webIsolated': 16,
  'network.dns.localDomains': INSECURE_HOST,
  // Nothing that the scenarios do not ask for: no pages at the start, no calls home, no reports of the killed.
  'browser.startup.page': 0,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.newtabpage.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.tabs.unloadOnLowMemory': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.enabled': false,
  'app.normandy.enabled': false,
  'app.update.enabled': false,
  'extensions.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,#remote-settings-dummy/v1',
};

type Told = { readonly result?: unknown; readonly error?: string; readonly message?: string };

const GONE: Told = { error: 'the browser has gone' };

/** Commands and their results, as many at a time as there are. */
class Session {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (told: Told) => void>();
  #ids = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const told = JSON.parse(String(data)) as Told & { id?: number };
      this.#waiting.get(told.id ?? 0)?.(told);
      this.#waiting.delete(told.id ?? 0);
    });
    // Closing follows, and is what counts.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const tell of this.#waiting.values()) tell(GONE);
      this.#waiting.clear();
    });
  }

  static async open(url: string): Promise<Session> {
    const socket = new WebSocket(url);
    await new Promise((opened, failed) => socket.once('open', opened).once('error', failed));
    return new Session(socket);
  }

  async call<T>(method: string, params: object): Promise<T> {
    const id = (this.#ids += 1);
    const { result, error, message } = await new Promise<Told>((tell) => {
      if (this.#socket.readyState !== WebSocket.OPEN) return tell(GONE);
      this.#waiting.set(id, tell);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
    if (error !== undefined) throw new Error(`${method}: ${error}: ${message}`);
    return result as T;
  }
}

type Evaluated = { readonly result?: { readonly value?: string }; readonly exceptionDetails?: { readonly text: string } };

function tabIn(session: Session, context: string): Tab {
  return {
    async evaluate(work, argument) {
      // Values travel as text: what JSON cannot say is not asked for.
      const expression = `Promise.resolve(${expressionOf(work, argument)}).then((value) => JSON.stringify({ value }))`;
      const { result, exceptionDetails } = await session.call<Evaluated>('script.evaluate', {
        expression,
        target: { context },
        awaitPromise: true,
      });
      if (!result?.value) throw new Error(exceptionDetails?.text);
      return JSON.parse(result.value).value;
    },
    reload: () => session.call('browsingContext.reload', { context, wait: 'complete' }),
    close: () => session.call('browsingContext.close', { context }),
  };
}

export function startFirefox(): Promise<Engine> {
  const cleanup = new Cleanup();
  return cleanup.unless(async () => {
    const home = await makeHome('firefox', cleanup);
    const preferences = Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
    await writeFile(join(home, 'user.js'), preferences.join(''));
    const words = ['--headless', '--no-remote', '--profile', home, '--remote-debugging-port', '0'];
    const env = { ...environment(home), MOZ_CRASHREPORTER_DISABLE: '1' };
    const ready = /WebDriver BiDi listening on (ws:\S+)/;
    const { pid, said } = await start({ program: FIREFOX, words, env, ready }, cleanup);
    const session = await Session.open(`${said}/session`);
    const { capabilities } = await session.call<{ capabilities: { browserVersion: string } }>('session.new', { capabilities: {} });
    return {
      name: `Firefox ${capabilities.browserVersion}`,
      pid,
      workersStoreAlone: true,
      async open(url) {
        const { context } = await session.call<{ context: string }>('browsingContext.create', { type: 'tab' });
        await session.call('browsingContext.navigate', { context, url, wait: 'complete' });
        return tabIn(session, context);
      },
      isUsable: () => session.call('session.status', {}).then(() => true, () => false),
      stop: () => cleanup.run(),
    };
  });
}
