// A repository in a temporary directory, the commands in it, and a server on it that can be killed and started again.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const JIT = process.env['JIT'] ?? new URL('../../../../target/debug/jit', import.meta.url).pathname;

export class World {
  readonly root: string;
  readonly repo: string;
  url = '';
  #server: ChildProcess | null = null;

  constructor(parent = tmpdir()) {
    this.root = mkdtempSync(join(parent, 'holdfast-dashboard-'));
    this.repo = join(this.root, 'orchard');
    mkdirSync(join(this.root, 'home'));
    mkdirSync(this.repo);
    this.git(['init', '-q', '-b', 'main']);
    this.git(['commit', '-q', '--allow-empty', '-m', 'first']);
    this.jit(['init']);
  }

  get #env(): Record<string, string> {
    const person = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.org', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.org' };
    return { PATH: `${dirname(JIT)}:${process.env['PATH'] ?? ''}`, HOME: join(this.root, 'home'), GIT_CONFIG_NOSYSTEM: '1', NO_COLOR: '1', IC_LOCK_ROOT: join(this.root, 'ic-locks'), ...person };
  }

  git(words: readonly string[], at = this.repo): string {
    return execFileSync('git', words, { cwd: at, env: this.#env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  jit(words: readonly string[], agent = 'agent:ada', at = this.repo): string {
    return execFileSync(JIT, words, { cwd: at, env: { ...this.#env, JIT_AGENT_ID: agent }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  json<T>(words: readonly string[], agent?: string, at?: string): T {
    return JSON.parse(this.jit(['--json', ...words], agent, at)) as T;
  }

  issue(title: string, ...more: string[]): string {
    return this.jit(['-q', 'issue', 'create', '--title', title, ...more]).trim();
  }

  worktree(name: string): string {
    const path = join(this.root, name);
    this.git(['worktree', 'add', '-q', '-b', name, path]);
    return path;
  }

  /** Files of issues as the tracker has them, written at once: a command for each would take minutes. */
  many(count: number, dependsOn: (number: number) => readonly number[] = () => []): string[] {
    const id = (number: number) => `01J0000000${number.toString(32).toUpperCase().padStart(6, '0').replace(/[ILOU]/g, (c) => ({ I: 'W', L: 'X', O: 'Y', U: 'Z' })[c] ?? c)}0000000000`;
    const issues = join(this.repo, '.jit', 'issues');
    const ids = Array.from({ length: count }, (_, number) => id(number));
    const states = ['backlog', 'ready', 'ready', 'in_progress', 'done', 'done'];
    ids.forEach((one, number) => {
      const folder = join(issues, one);
      mkdirSync(folder, { recursive: true });
      const at = new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString();
      const state = dependsOn(number).length > 0 || number === 0 ? 'ready' : states[number % states.length];
      const issue = { id: one, title: `Tree number ${number}`, type: 'task', state, priority: 'normal', created_at: at, updated_at: at };
      writeFileSync(join(folder, 'issue.json'), `${JSON.stringify(issue)}\n`);
      const deps = dependsOn(number).map((other) => `${JSON.stringify({ id: one.slice(0, 20) + String(other).padStart(6, '0'), op: 'add', value: ids[other], at, agent_id: 'agent:ada' })}\n`);
      if (deps.length > 0) writeFileSync(join(folder, 'deps.or-set.jsonl'), deps.join(''));
    });
    return ids;
  }

  /** Another door's program, beside ours. */
  other(program: string, words: readonly string[], at = this.root): string {
    return execFileSync(join(dirname(JIT), program), words, { cwd: at, env: this.#env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  async serve(...more: string[]): Promise<string> {
    const server = spawn(join(dirname(JIT), 'jit-server'), ['--json', '--agent-id', 'person:eve', ...more], { cwd: this.repo, env: this.#env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#server = server;
    this.url = await new Promise<string>((resolve, reject) => {
      let said = '';
      server.stdout?.on('data', (piece: Buffer) => {
        said += String(piece);
        if (said.includes('\n')) resolve((JSON.parse(said) as { server: { url: string } }).server.url);
      });
      server.on('exit', (code) => reject(new Error(`the server ended: ${code}`)));
    });
    return this.url;
  }

  /** Has the server stand still, or go on. */
  pause(still: boolean): void {
    this.#server?.kill(still ? 'SIGSTOP' : 'SIGCONT');
  }

  /** Ends the server as a power cut would. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server || server.exitCode !== null) return;
    const over = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await over;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}
