// *Board*: columns by state. What is looked for is in the address, so that it can be kept and passed on.

import { move, open } from './actions.js';
import { h, type Child } from './dom.js';
import { badge, empty, standingWords, when } from './parts.js';
import { href, refine, type Route } from './route.js';
import { ago, moment } from './time.js';
import type { Board, Card, State } from './types.js';
import { PRIORITIES, STATES, STATE_WORDS } from './types.js';

/** How many cards of a column are shown at first: a browser gets slow long before a person has read that many. */
const PAGE = 60;
/** What is over is only shown when asked for. */
const USUAL: readonly State[] = ['backlog', 'ready', 'in_progress', 'gated', 'done'];

export function board_(board: Board, route: Route): Child {
  const query = (name: string) => route.query.get(name) ?? '';
  const cards = board.issues.filter(filter(query, board));
  const only = query('state');
  const states = STATES.filter((state) => (only ? only.split(',').includes(state) : USUAL.includes(state)));
  const by = new Map<State, Card[]>(states.map((state) => [state, []]));
  for (const card of cards) by.get(card.state)?.push(card);
  for (const column of by.values()) column.sort(order);
  const most = Math.max(PAGE, Number(query('show')) || 0);
  return [
    h('h1', {}, 'Board'),
    filters(board, query),
    cards.length === 0 && empty(board.count === 0 ? 'There is no issue yet: jit issue create --title "…"' : 'Nothing fits.'),
    h('div', { class: 'columns' }, states.map((state) => column(state, by.get(state) ?? [], most, board))),
  ];
}

/** The most urgent first, then what was changed last. */
function order(one: Card, other: Card): number {
  const rank = (card: Card) => PRIORITIES.indexOf(card.priority as (typeof PRIORITIES)[number]);
  return rank(one) - rank(other) || (one.updated_at < other.updated_at ? 1 : -1);
}

function filter(query: (name: string) => string, board: Board): (card: Card) => boolean {
  const words = query('q').toLowerCase().split(/\s+/).filter(Boolean);
  const [priority, label, type, who] = [query('priority'), query('label'), query('type'), query('who')];
  return (card) => {
    if (priority && card.priority !== priority) return false;
    if (label && !card.labels.includes(label)) return false;
    if (type && card.type !== type) return false;
    if (who === 'nobody' ? card.claimed_by : who === 'me' ? card.claimed_by !== board.agent_id : who && card.claimed_by !== who) return false;
    if (words.length === 0) return true;
    const text = [card.handle, card.id, card.title, card.claimed_by, card.assignee, ...card.labels].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

interface Choices {
  readonly types: string[];
  readonly labels: string[];
  readonly holders: string[];
}

const choices = new WeakMap<Board, Choices>();

/** What can be chosen from: the same for as long as the board is. */
function chosen(board: Board): Choices {
  const found = choices.get(board) ?? {
    types: values(board, (card) => [card.type]),
    labels: values(board, (card) => card.labels),
    holders: values(board, (card) => [card.claimed_by]),
  };
  choices.set(board, found);
  return found;
}

/** Values that there are, the most frequent first, and not too many of them. */
function values(board: Board, of: (card: Card) => readonly (string | undefined)[]): string[] {
  const counts = new Map<string, number>();
  for (const card of board.issues) for (const value of of(card)) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 100).map(([value]) => value);
}

function filters(board: Board, query: (name: string) => string): Child {
  const select = (name: string, label: string, all: readonly (readonly [string, string])[]) => {
    const value = query(name);
    const known = value === '' || all.some(([one]) => one === value) ? all : [...all, [value, value] as const];
    const change = (event: Event) => refine({ [name]: (event.target as HTMLSelectElement).value });
    return h('label', {}, h('span', { class: 'dim' }, label), h('select', { name, on: { change } }, h('option', { value: '', selected: value === '' }, 'any'), known.map(([one, text]) => h('option', { value: one, selected: one === value }, text))));
  };
  const same = (all: readonly string[]) => all.map((one) => [one, one] as const);
  const search = (event: Event) => refine({ q: (event.target as HTMLInputElement).value });
  return h(
    'form',
    { class: 'filters', role: 'search', on: { submit: (event: Event) => event.preventDefault() } },
    h('label', { class: 'grow' }, h('span', { class: 'dim' }, 'Search'), h('input', { type: 'search', name: 'q', value: query('q'), placeholder: 'title, handle, label, agent', on: { input: search } })),
    select('state', 'State', STATES.map((state) => [state, STATE_WORDS[state]] as const)),
    select('priority', 'Priority', same(PRIORITIES)),
    select('type', 'Type', same(chosen(board).types)),
    select('label', 'Label', same(chosen(board).labels)),
    select('who', 'Held by', [['nobody', 'nobody'], ['me', 'me'], ...same(chosen(board).holders)]),
    h('a', { href: href('board'), class: 'button' }, 'Clear'),
  );
}

/** What is dragged, for as long as it is. */
let dragged: Card | null = null;

function column(state: State, cards: readonly Card[], most: number, board: Board): Child {
  const over = (event: DragEvent) => {
    if (dragged && dragged.state !== state) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    if (dragged) open(move(dragged.id, `${dragged.handle} ${dragged.title}`, state));
    dragged = null;
  };
  return h(
    'section',
    { class: 'column', key: state, 'aria-label': `${STATE_WORDS[state]}, ${cards.length}`, 'data-state': state, on: { dragover: over, drop } },
    h('h2', {}, STATE_WORDS[state], h('span', { class: 'count' }, cards.length)),
    h('ul', {}, cards.slice(0, most).map((one) => card(one, board))),
    cards.length > most && h('button', { type: 'button', class: 'small', on: { click: () => refine({ show: String(most + 4 * PAGE) }) } }, `Show more of ${cards.length - most}`),
  );
}

/** What was described of cards, which are the same ones in the next board unless they have changed. */
const described = new WeakMap<Card, { readonly of: string; readonly made: Child }>();

function card(one: Card, board: Board): Child {
  // Only whoever holds an issue may change where it stands.
  const mine = one.claimed_by !== undefined && board.agents.some((lane) => lane.agent_id === board.agent_id && lane.worktree_id === board.worktree_id && lane.leases.some((lease) => lease.issue_id === one.id));
  const of = `${mine} ${ago(one.updated_at)} ${moment(one.updated_at)}`;
  const before = described.get(one);
  if (before?.of === of) return before.made;
  const made = describe(one, mine);
  described.set(one, { of, made });
  return made;
}

function describe(one: Card, mine: boolean): Child {
  const blocked = one.blocked_by?.length ?? 0;
  const standing = standingWords(one.standing);
  return h(
    'li',
    // A link can be dragged by itself, also on the card of somebody else.
    { key: one.id, class: `card p-${one.priority}${mine ? ' mine' : ''}`, draggable: mine ? 'true' : null, on: { dragstart: () => (dragged = mine ? one : null), dragend: () => (dragged = null) } },
    h('a', { href: href('issue', one.id), 'data-item': true }, h('code', {}, one.handle), ' ', one.title),
    h(
      'div',
      { class: 'marks' },
      one.priority !== 'normal' && badge(one.priority, one.priority === 'critical' ? 'bad' : one.priority === 'high' ? 'warn' : ''),
      one.claimed_by && badge(one.claimed_by, 'held'),
      blocked > 0 && badge(`waits for ${blocked}`, 'warn'),
      standing && standing !== 'landed' && badge(standing, 'warn'),
      one.type !== 'task' && badge(one.type),
      one.labels.slice(0, 4).map((label) => badge(label, 'label')),
      one.labels.length > 4 && badge(`+${one.labels.length - 4}`),
    ),
    h('div', { class: 'dim' }, when(one.updated_at)),
  );
}
