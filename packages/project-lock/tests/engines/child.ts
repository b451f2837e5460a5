// The programs that a browser is started with: each with a home of its own, none left behind.

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { descendants } from './processes.js';

/** A directory for everything that a browser keeps. */
export async function makeHome(name: string, cleanup: Cleanup): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), `holdfast-${name}-`));
  // What has just been killed may still be writing.
  cleanup.add(() => rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return home;
}

/** What a browser is told of this machine: nothing of the test runner's, and nothing of the user's. */
export const environment = (home: string) => ({
  PATH: process.env['PATH'],
  LANG: 'C.UTF-8',
  HOME: home,
  TMPDIR: home,
  XDG_RUNTIME_DIR: home,
});

export interface Started {
  readonly pid: number;
  /** What the pattern found in what the program printed. */
  readonly said: string;
}

interface Program {
  readonly program: string;
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** What it prints, on either output, when it is ready. */
  readonly ready: RegExp;
  /** What ends it, if it is to tidy up after itself. */
  readonly signal?: NodeJS.Signals;
}

/** Starts a program, and waits until it is ready. If it ends instead, the error has all that it said. */
export function start({ program, words, env, ready, signal }: Program, cleanup: Cleanup): Promise<Started> {
  const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  cleanup.add(() => end(child, signal));
  return new Promise((started, failed) => {
    let said = '';
    const fail = (why: unknown) => failed(new Error(`${program}: ${why}\n${said}`));
    child.once('error', fail).once('exit', (code, killed) => fail(`ended with ${killed ?? code}`));
    for (const output of [child.stdout, child.stderr] as Readable[]) {
      output.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const found = ready.exec(said)?.[1];
        if (found !== undefined) started({ pid: child.pid as number, said: found });
      });
    }
  });
}

/** Ends it with all that it has started, and waits until it has ended. */
export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  for (const pid of [...descendants(child.pid), child.pid]) kill(pid, signal);
  await ended;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/** What has to be undone if something fails half-way, and in the end; the last first. */
export class Cleanup {
  readonly #work: (() => Promise<unknown>)[] = [];

  add(work: () => Promise<unknown>): void {
    this.#work.unshift(work);
  }

  async run(): Promise<void> {
    for (const work of this.#work.splice(0)) await work();
  }

  /** What the work comes to; if it fails, everything is undone. */
  async unless<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.run();
      throw error;
    }
  }
}
