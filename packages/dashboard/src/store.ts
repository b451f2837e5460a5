// What the page knows: the board, and what the open view wants besides. A document replaces the one before as a whole or not
// at all, and what is known stays when the server is away.

import { Away, get, getChanged, Refused } from './api.js';
import { patched, type Delta } from './delta.js';
import { now } from './time.js';
import type { Board, ClaimEvent, Detail, Gate, Graph, Locks, Shown } from './types.js';

/** How the server is doing, as far as this page can tell. */
export type Line = 'starting' | 'live' | 'away' | 'trouble' | 'locked';

export interface Known {
  line: Line;
  why: string;
  board: Board | null;
}

export const known: Known = { line: 'starting', why: '', board: null };

const AGAIN_MS = 2000;
/** Without any news it is asked all the same: a claim can end without anybody saying so. */
const AT_LATEST_MS = 30_000;

/** After news the board comes by itself; if it does not, it is asked for. */
const TOLD_MS = 2000;

/** Something that is fetched again when there is news, one request at a time, the last answer always being the newest. */
class Fetched<T> {
  value: T | null = null;
  error: string = '';
  #load: (() => Promise<T | null>) | null = null;
  #asked = 0;
  #running = false;
  #dirty = false;

  constructor(readonly changed: () => void) {}

  /** Says what is wanted; what was there before was of something else. */
  want(load: (() => Promise<T | null>) | null): void {
    this.#load = load;
    this.value = null;
    this.error = '';
    this.#asked += 1;
    this.refresh();
  }

  refresh(): void {
    if (!this.#load) return;
    if (this.#running) {
      this.#dirty = true;
      return;
    }
    void this.#run(this.#load);
  }

  /** Takes what was told. */
  take(value: T): void {
    this.value = value;
    this.error = '';
    heard();
    this.changed();
  }

  async #run(load: () => Promise<T | null>): Promise<void> {
    this.#running = true;
    this.#dirty = false;
    const asked = this.#asked;
    try {
      const value = await load();
      if (asked === this.#asked) {
        if (value !== null) this.value = value;
        this.error = '';
        heard();
      }
    } catch (error) {
      if (asked === this.#asked) this.error = failed(error);
    }
    this.#running = false;
    if (this.#dirty || asked !== this.#asked) this.refresh();
    this.changed();
  }
}

let changed: () => void = () => {};
let again = 0;
/** Whether the trouble is that questions are refused. */
let refusing = false;
let tag: string | null = null;

const board = new Fetched<Board>(() => {
  known.board = board.value ?? known.board;
  schedule();
  changed();
});

export const detail = new Fetched<Detail>(() => changed());
export const graph = new Fetched<Graph>(() => changed());
export const events = new Fetched<readonly ClaimEvent[]>(() => changed());
export const locks = new Fetched<Locks>(() => changed());

/** What other doors hold changes without an event of ours. */
const OTHERS_MS = 5000;

/** What a request that failed says of the server; and what it says to whoever looks. */
function failed(error: unknown): string {
  if (error instanceof Refused && error.status === 401) known.line = 'locked';
  else if (error instanceof Away) known.line = 'away';
  else if (error instanceof Refused && error.status >= 500) [known.line, known.why, refusing] = ['trouble', named(error.message), true];
  // What was refused would be refused again; whoever is away may come back at any moment.
  const soon = known.line === 'away' || known.line === 'trouble';
  window.clearTimeout(again);
  again = window.setTimeout(refresh, soon ? AGAIN_MS : AT_LATEST_MS);
  if (!(error instanceof Refused || error instanceof Away)) return String(error);
  return named(error instanceof Refused && error.hint ? `${error.message} (${error.hint})` : error.message);
}

/** The server has answered. What the events told of is over when they say so. */
function heard(): void {
  if (known.line !== 'trouble' || refusing) known.line = 'live';
  refusing = false;
}

export function start(onChange: () => void): void {
  changed = onChange;
  window.setInterval(() => document.hidden || locks.refresh(), OTHERS_MS);
  board.want(async () => {
    const before = tag;
    const found = await getChanged<{ board: Board }>('/api/board', before);
    // What was told meanwhile is not older, and what comes after it is told as well.
    if (!found || tag !== before) return null;
    tag = found.tag;
    return found.document.board;
  });
}

/** Looks at everything again that is shown. */
export function refresh(): void {
  board.refresh();
  refreshView();
}

function refreshView(): void {
  for (const one of [detail, graph, events, locks]) one.refresh();
}

let told = 0;

/** Something has happened: how the board changes by it is about to be told. */
export function awaitBoard(): void {
  if (told === 0) told = window.setTimeout(() => ((told = 0), board.refresh()), TOLD_MS);
  refreshView();
}

/** How the board has changed. */
export function takeBoard(text: string): void {
  window.clearTimeout(told);
  told = 0;
  const delta = JSON.parse(text) as Delta;
  if (delta.to === tag) return;
  const next = known.board && patched(known.board, tag, delta);
  if (!next) return board.refresh();
  tag = delta.to;
  board.take(next);
}

/** Words of the server for whoever reads them: it names issues by their ids, people know them by their handles. */
export function named(text: string): string {
  const handles = new Map(known.board?.issues.map((card) => [card.id, card.handle]));
  return text.replace(/(\blease )?\b([0-9A-HJKMNP-TV-Z]{26})\b(?!\/)/g, (all, lease: string | undefined, id: string) => handles.get(id) ?? (lease ? 'lease' : all));
}

export function setLine(line: Line, why = ''): void {
  if (known.line === 'locked' && line !== 'live') return;
  [known.line, known.why] = [line, why];
  changed();
}

/** Looks again when the next claim ends, or after a while. */
function schedule(): void {
  window.clearTimeout(again);
  const left = (known.board?.agents ?? [])
    .flatMap((lane) => [...lane.leases, ...lane.reservations])
    .flatMap((lease) => (lease.expires_at === null ? [] : [Date.parse(lease.expires_at) - now()]))
    .filter((ms) => ms > -2000);
  const wait = Math.max(500, Math.min(AT_LATEST_MS, ...left.map((ms) => ms + 300)));
  again = window.setTimeout(refresh, known.line === 'away' || known.line === 'trouble' ? AGAIN_MS : wait);
}

/** Everything about one issue. Its parts are asked for one by one, so they are asked for again until they fit each other. */
export async function loadDetail(id: string): Promise<Detail> {
  const path = encodeURIComponent(id);
  for (let tries = 0; ; tries += 1) {
    const [shown, { gates }, { events: happened }] = await Promise.all([
      get<Shown>(`/api/issues/${path}`),
      get<{ gates: Gate[] }>(`/api/issues/${path}/gates`),
      get<{ events: ClaimEvent[] }>(`/api/claims/history?issue_id=${path}`),
    ]);
    if (tries >= 5 || fits(shown, gates, happened)) return { at: now(), shown, gates, events: happened };
  }
}

export function fits(shown: Shown, gates: readonly Gate[], happened: readonly ClaimEvent[]): boolean {
  // Requests, approvals and escalations are about a claim, and are none.
  const last = happened.findLast((event) => event.event_type.startsWith('claim.'));
  const over = last?.event_type === 'claim.released' || last?.event_type === 'claim.evicted';
  const held = last && !over ? last.payload.lease_id : null;
  // A claim that ran out is in the history until somebody takes over.
  const claims = shown.lease ? shown.lease.lease_id === held : held === null || hasRunOut(last);
  const keys = [...(shown.issue.gates ?? [])].sort().join();
  return claims && keys === gates.map((gate) => gate.key).sort().join();
}

function hasRunOut(last: ClaimEvent | undefined): boolean {
  const expires = last?.payload.expires_at;
  return expires !== undefined && Date.parse(expires) <= now() + 1000;
}

export async function loadGraph(): Promise<Graph> {
  return (await get<{ graph: Graph }>('/api/graph')).graph;
}

export async function loadEvents(): Promise<readonly ClaimEvent[]> {
  return (await get<{ events: ClaimEvent[] }>('/api/claims/history')).events;
}

export async function loadLocks(): Promise<Locks> {
  return get<Locks>('/api/locks');
}
