// *Graph*: what depends on what. What an issue needs stands to the left of it.
import { h } from './dom.js';
import { layers } from './layers.js';
import { empty } from './parts.js';
import { href, refine } from './route.js';
import { STATE_WORDS } from './types.js';
const [WIDTH, HEIGHT, GAP_X, GAP_Y] = [210, 40, 60, 12];
/** More than anybody can read, and as much as a browser draws without a pause. */
const MOST = 1500;
/** A drawing is kept for as long as nothing in it changes. */
let drawn = null;
export function graph_(graph, route) {
    const over = route.query.get('over') === '1';
    const toggle = (event) => refine({ over: event.target.checked ? '1' : '' });
    if (drawn?.graph !== graph || drawn.over !== over)
        drawn = { graph, over, picture: draw(graph, over) };
    return [
        h('h1', {}, 'Graph'),
        h('form', { class: 'filters' }, h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'over', checked: over, on: { change: toggle } }), h('span', {}, 'also what is over')), h('p', { class: 'dim legend' }, h('span', { class: 'key held' }), ' held ', h('span', { class: 'key ready' }), ' ready ', h('span', { class: 'key waits' }), ' waits ', h('span', { class: 'key over' }), ' over')),
        drawn.picture,
    ];
}
function isOver(one) {
    return one.state === 'done' || one.state === 'rejected' || one.state === 'archived';
}
function draw(graph, over) {
    const nodes = new Map(graph.nodes.filter((one) => over || !isOver(one)).map((one) => [one.id, one]));
    const edges = graph.edges.filter(({ from, to }) => nodes.has(from) && nodes.has(to));
    const tied = new Set(edges.flatMap(({ from, to }) => [from, to]));
    const ids = [...nodes.keys()].filter((id) => tied.has(id));
    if (ids.length === 0)
        return h('div', { key: 'none' }, empty(over ? 'No issue depends on another one.' : 'No open issue depends on another one.'));
    const shown = ids.slice(0, MOST);
    const places = new Map(layers(shown, edges).map((place) => [place.id, place]));
    const x = (id) => (places.get(id)?.layer ?? 0) * (WIDTH + GAP_X) + 1;
    const y = (id) => (places.get(id)?.row ?? 0) * (HEIGHT + GAP_Y) + 1;
    const all = [...places.values()];
    const width = (Math.max(...all.map((place) => place.layer)) + 1) * (WIDTH + GAP_X) - GAP_X + 2;
    const height = (Math.max(...all.map((place) => place.row)) + 1) * (HEIGHT + GAP_Y) - GAP_Y + 2;
    const waits = new Set(edges.filter(({ to }) => !isOver(nodes.get(to))).map(({ from }) => from));
    const lines = edges.filter(({ from, to }) => places.has(from) && places.has(to));
    return h('div', { class: 'graph', key: 'graph' }, shown.length < ids.length && h('p', { class: 'dim' }, `The first ${shown.length} of ${ids.length} issues that depend on each other.`), h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': `${shown.length} issues and ${lines.length} dependencies` }, h('svg', { width, height, viewBox: `0 0 ${width} ${height}` }, h('g', { class: 'lines' }, lines.map(({ from, to }) => h('path', { d: curve(x(to) + WIDTH, y(to) + HEIGHT / 2, x(from), y(from) + HEIGHT / 2) }))), shown.map((id) => box(nodes.get(id), x(id), y(id), waits.has(id))))));
}
function curve(x1, y1, x2, y2) {
    const bend = Math.max(20, Math.abs(x2 - x1) / 2);
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
function cut(text, most) {
    const letters = [...text];
    return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text;
}
function box(one, x, y, waits) {
    const kind = one.claimed_by ? 'held' : isOver(one) ? 'over' : waits ? 'waits' : 'ready';
    const state = one.state === null ? 'cannot be read' : STATE_WORDS[one.state].toLowerCase();
    const below = one.claimed_by ?? (waits ? `${state}, waits` : state);
    const label = `${one.handle} ${one.title ?? ''}, ${state}${one.claimed_by ? `, held by ${one.claimed_by}` : ''}`;
    return h('a', { href: href('issue', one.id), class: `box ${kind}`, 'data-item': true, transform: `translate(${x} ${y})` }, h('title', {}, label), h('rect', { width: WIDTH, height: HEIGHT, rx: 6 }), h('text', { x: 10, y: 17 }, cut(`${one.handle}  ${one.title ?? ''}`, 29)), h('text', { x: 10, y: 32, class: 'dim' }, cut(below, 32)));
}
