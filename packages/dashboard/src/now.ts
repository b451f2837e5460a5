// *Now*: what needs a person, and a lane for each agent and worktree with what it holds and what it waits for.

import { addNote, approve, basename, button, leaseButtons, open } from './actions.js';
import { h, Kept, type Child } from './dom.js';
import { badge, bar, deadline, empty, issueLink, when } from './parts.js';
import { href } from './route.js';
import { beat, now } from './time.js';
import type { Attention, Board, Held, Lane, Pool, State } from './types.js';
import { STATE_WORDS } from './types.js';

const NEEDS: Readonly<Record<string, readonly [string, string]>> = {
  approval: ['approval', 'warn'],
  needs_attention: ['keeps failing', 'bad'],
  gated: ['gate open', 'warn'],
  not_landed: ['not landed', 'warn'],
  lost: ['lost', 'bad'],
  abandoned: ['abandoned', 'warn'],
  stale: ['stale', 'bad'],
  holder_gone: ['holder gone', 'bad'],
};

const MOST = 50;

/** A claim changes one lane and a number or two. */
const kept = new Kept();

export function now_(board: Board): Child {
  const shown = [
    kept.get('title', '', () => h('h1', {}, 'Now')),
    counts(board),
    kept.get('needs', JSON.stringify(board.attention), () => attention(board.attention)),
    h('section', { 'aria-labelledby': 'lanes' }, h('h2', { id: 'lanes' }, 'At work', count(board.agents.length)), board.agents.length === 0 ? empty('Nobody holds or waits for anything.') : h('div', { class: 'lanes' }, lanes(board))),
    kept.get('pools', JSON.stringify(board.pools), () => board.pools.length > 0 && h('section', { 'aria-labelledby': 'pools' }, h('h2', { id: 'pools' }, 'Pools'), h('ul', { class: 'plain' }, board.pools.map(pool)))),
  ];
  kept.done();
  return shown;
}

/** The lanes: those that are as they were are looked at again when their bars run down. */
function lanes(board: Board): Child {
  const at = Date.parse(board.at);
  const ends = (lease: Held) => deadline(lease, at);
  // How much is left is another number in each board; when it ends is the same.
  const timeless = (name: string, value: unknown) => (name === 'remaining_secs' ? undefined : value);
  return board.agents.map((one) => {
    const of = JSON.stringify([beat(), board.agent_id, board.worktree_id, one.leases.map(ends), one.reservations.map(ends), one], timeless);
    return kept.get(`lane ${one.agent_id} ${one.worktree_id}`, of, () => lane(one, at));
  });
}

function count(number: number): Child {
  return h('span', { class: 'count' }, number);
}

/** How many issues are in each state, each a way to the board. */
function counts(board: Board): Child {
  const by = new Map<State, number>();
  let takeable = 0;
  for (const card of board.issues) {
    by.set(card.state, (by.get(card.state) ?? 0) + 1);
    if (card.state === 'ready' && !card.claimed_by && !card.blocked_by) takeable += 1;
  }
  const tile = (state: State, more = '') => {
    const make = (): Child => h('a', { class: 'tile', href: href('board', '', { state }), key: state }, h('strong', {}, by.get(state) ?? 0), h('span', {}, STATE_WORDS[state].toLowerCase()), more && h('small', {}, more));
    return kept.get(`tile ${state}`, `${by.get(state)} ${more}`, make);
  };
  return h(
    'div',
    { class: 'tiles' },
    tile('ready', takeable === (by.get('ready') ?? 0) ? '' : `${takeable} free to take`),
    tile('in_progress'),
    tile('gated'),
    tile('done'),
    board.unreadable > 0 && h('span', { class: 'tile bad' }, h('strong', {}, board.unreadable), h('span', {}, 'cannot be read')),
  );
}

function attention(all: readonly Attention[]): Child {
  return h(
    'section',
    { 'aria-labelledby': 'needs' },
    h('h2', { id: 'needs' }, 'Needs a person', count(all.length)),
    all.length === 0 ? empty('Nothing needs a person.') : h('ul', { class: 'needs' }, all.slice(0, MOST).map(need)),
    all.length > MOST && h('p', { class: 'empty' }, `and ${all.length - MOST} more`),
  );
}

function need(one: Attention): Child {
  const [word, kind] = NEEDS[one.kind] ?? [one.kind, 'warn'];
  const about = `${one.handle} ${one.title}`;
  return h(
    'li',
    { key: `${one.kind} ${one.issue_id}` },
    badge(word, kind),
    h('div', { class: 'grow' }, issueLink(one.issue_id, one.handle, one.title), h('div', { class: 'dim' }, one.text)),
    one.kind === 'approval' && one.lease_id && button('Approve', () => open(approve(one)), { 'aria-label': `Approve the eviction from ${about}` }),
    button('Note', () => open(addNote(one.issue_id, about)), { 'aria-label': `Add a note to ${about}` }),
  );
}

/** Working, waiting, or stuck: a word that is the same for whoever cannot see colours. */
function mood(lane: Lane, at: number): readonly [string, string] {
  const dead = lane.gone || lane.leases.some((lease) => lease.worktree_gone || lease.keeper?.gone);
  if (dead) return ['gone', 'bad'];
  const over = (lease: Held) => lease.stale || (deadline(lease, at) ?? Number.POSITIVE_INFINITY) <= now();
  if (lane.leases.some(over)) return ['stuck', 'bad'];
  if (lane.waits_for.length > 0) return ['waiting', 'warn'];
  return ['working', 'good'];
}

function lane(one: Lane, at: number): Child {
  const [word, kind] = mood(one, at);
  return h(
    'article',
    { class: 'lane', key: `${one.agent_id} ${one.worktree_id}`, 'aria-label': one.agent_id },
    h(
      'header',
      {},
      h('h3', {}, one.agent_id),
      badge(word, kind),
      h('div', { class: 'dim where' }, one.path ? h('span', { title: one.path }, basename(one.path)) : one.worktree_id ?? 'only waits', one.branch && [' on ', h('span', {}, one.branch)]),
    ),
    one.leases.map((lease) => held(lease, at)),
    one.reservations.length > 0 && h('ul', { class: 'reserved', 'aria-label': 'Reserved paths' }, one.reservations.map((lease) => reserved(lease, at))),
    one.waits_for.map((awaited) => h('p', { class: 'waits', key: `waits ${awaited.resource}` }, 'waits for ', issueLink(awaited.resource, awaited.handle, awaited.title))),
  );
}

function held(lease: Held, at: number): Child {
  const what = lease.issue_id === undefined ? h('span', { class: 'issue' }, h('code', {}, lease.resource ?? '')) : issueLink(lease.issue_id, lease.handle ?? '', lease.title);
  const facts: Child[] = ['last sign ', when(lease.last_sign), ` · fence ${lease.fence}`];
  if (lease.renewals) facts.push(` · renewed ${lease.renewals}×`);
  if (lease.keeper?.gone) facts.push(` · process ${lease.keeper.pid} is gone`);
  const note = () => lease.issue_id && open(addNote(lease.issue_id, `${lease.handle} ${lease.title}`));
  return h(
    'div',
    { class: 'held', key: lease.lease_id },
    what,
    bar(lease, at),
    h('p', { class: 'dim' }, facts),
    lease.reason && h('p', { class: 'dim' }, '“', lease.reason, '”'),
    h('div', { class: 'buttons' }, leaseButtons(lease), lease.issue_id && button('Note', note)),
  );
}

/** Paths that others keep their hands off. */
function reserved(lease: Held, at: number): Child {
  return h('li', { key: lease.lease_id }, h('p', {}, lease.shared ? 'shares ' : 'reserves ', h('code', {}, lease.pattern ?? '')), bar(lease, at));
}

function pool(one: Pool): Child {
  const busy = one.workers.filter((worker) => worker.task !== null).length;
  const word = !one.running ? 'not running' : one.ending ? 'ending' : 'running';
  return h('li', { key: one.name }, badge(word, one.running ? 'good' : 'warn'), ' ', h('strong', {}, one.name), ` ${busy} of ${one.workers.length} busy, ${one.finished} finished, ${one.failed} failed`);
}
