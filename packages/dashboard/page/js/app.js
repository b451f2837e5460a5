// The page: gets in, follows what happens, and shows the view that the address names.
import { post } from './api.js';
import { basename, say } from './actions.js';
import { board_ } from './board.js';
import { h, patch } from './dom.js';
import { graph_ } from './graph.js';
import { history_ } from './history.js';
import { issue } from './issue.js';
import { follow } from './live.js';
import { locks_ } from './locks.js';
import { now_ } from './now.js';
import { empty } from './parts.js';
import { here, href } from './route.js';
import { awaitBoard, detail, events, graph, known, loadDetail, loadEvents, loadGraph, loadLocks, locks, refresh, setLine, start, takeBoard } from './store.js';
import { goodFor } from './time.js';
const VIEWS = [
    ['now', 'Now'],
    ['board', 'Board'],
    ['graph', 'Graph'],
    ['history', 'History'],
    ['locks', 'Locks'],
];
const $ = (selector) => document.querySelector(selector);
// ---- showing
let route = here();
let asked = '';
let painted = 0;
/** Shows what is known, once per frame at most; also where there are no frames, as in a tab that nobody sees. */
function show() {
    if (painted)
        return;
    painted = window.setTimeout(() => {
        painted = 0;
        paint();
    }, 0);
}
function paint() {
    frame();
    patch($('main'), [known.line === 'locked' ? locked() : view()]);
}
let framed = '';
/** What is around the view: a claim seldom changes any of it, and what is set anew is drawn anew. */
function frame() {
    const { board, line, why } = known;
    const name = basename(board?.worktrees.find((tree) => tree.main)?.path ?? '');
    const needs = board?.attention.length ?? 0;
    const title = [needs > 0 && `(${needs})`, VIEWS.find(([view]) => view === route.view)?.[1] ?? (detail.value?.shown.issue.title || 'Issue'), name && `· ${name}`].filter(Boolean).join(' ');
    const made = JSON.stringify([title, line, why, board !== null, name, needs, route.view]);
    if (made === framed)
        return;
    framed = made;
    document.body.dataset['line'] = line;
    document.title = title;
    patch($('#name'), [name || 'jit']);
    patch($('nav'), VIEWS.map(([view, text]) => h('a', { href: href(view), 'aria-current': route.view === view ? 'page' : null }, text, view === 'now' && needs > 0 && h('span', { class: 'count bad' }, needs))));
    patch($('#line'), [h('span', { class: 'dot' }), LINES[line]]);
    patch($('#banner'), [banner()]);
}
const LINES = { starting: 'connecting', live: 'live', away: 'not connected', trouble: 'trouble', locked: 'locked' };
function banner() {
    const { line, why, board } = known;
    if (line === 'trouble')
        return h('p', { class: 'banner bad' }, `The repository cannot be read: ${why}`, board && '. What you see is how it was before.');
    if (line === 'away')
        return h('p', { class: 'banner warn' }, 'The server does not answer. ', board && 'What you see is how it was before. ', 'The page comes back by itself; to start it again: ', h('code', {}, 'jit serve'));
    return null;
}
function view() {
    const { board } = known;
    const waiting = h('p', { class: 'empty', key: 'waiting' }, 'Looking…');
    const failed = (text) => text && known.line === 'live' && h('p', { class: 'banner bad', role: 'alert' }, text);
    switch (route.view) {
        case 'now':
            return board ? h('div', { key: 'now' }, now_(board)) : waiting;
        case 'board':
            return board ? h('div', { key: 'board' }, board_(board, route)) : waiting;
        case 'issue':
            return h('div', { key: `issue ${route.id}` }, !detail.value && detail.error && h('h1', {}, 'Not here'), failed(detail.error), detail.value ? issue(detail.value, board) : detail.error ? h('p', {}, h('a', { class: 'button', href: href('board') }, 'To the board')) : waiting);
        case 'graph':
            return h('div', { key: 'graph' }, failed(graph.error), graph.value ? graph_(graph.value, route) : !graph.error && waiting);
        case 'history':
            return h('div', { key: 'history' }, failed(events.error), events.value ? history_(events.value, route) : !events.error && waiting);
        case 'locks':
            return h('div', { key: 'locks' }, failed(locks.error), locks.value ? locks_(locks.value, route) : !locks.error && waiting);
        default:
            return [h('h1', {}, 'Not here'), empty('There is no such view.')];
    }
}
/** Asks for what the view needs besides the board, when another one is opened. */
function arrive() {
    route = here();
    const wants = `${route.view}/${route.view === 'issue' ? route.id : ''}`;
    if (wants === asked)
        return show();
    const first = asked === '';
    asked = wants;
    const { id } = route;
    detail.want(route.view === 'issue' ? () => loadDetail(id) : null);
    graph.want(route.view === 'graph' ? loadGraph : null);
    events.want(route.view === 'history' ? loadEvents : null);
    locks.want(route.view === 'locks' ? loadLocks : null);
    paint();
    if (first)
        return;
    window.scrollTo(0, 0);
    $('main').focus({ preventScroll: true });
}
// ---- getting in
/** Exchanges the token for a cookie, which no script can read. Whatever comes of it, the token leaves the address. */
async function enter(token) {
    try {
        await post('/api/session', { token });
        setLine('live');
    }
    catch (error) {
        known.line = 'locked';
        say(error instanceof Error ? error.message : String(error));
    }
}
function locked() {
    const submit = async (event) => {
        event.preventDefault();
        const text = String(new FormData(event.target).get('token')).trim();
        await enter(text.split('#token=').at(-1) ?? text);
        refresh();
        show();
    };
    return h('div', { class: 'locked', key: 'locked' }, h('h1', {}, 'Who are you?'), h('p', {}, 'This page needs the token of the server. Open the address that ', h('code', {}, 'jit serve'), ' printed, or paste it here.'), h('form', { on: { submit: (event) => void submit(event) } }, h('label', {}, h('span', {}, 'Address or token'), h('input', { name: 'token', type: 'password', autocomplete: 'off', required: true })), h('div', { class: 'buttons' }, h('button', { type: 'submit', class: 'main' }, 'Enter'))));
}
// ---- keys
const KEYS = [
    ['1 2 3 4 5', 'Now, Board, Graph, History, Locks'],
    ['/', 'search the board'],
    ['j k', 'next and previous issue'],
    ['Enter', 'open it'],
    ['t', 'light, dark, or as the system'],
    ['?', 'this list'],
    ['Esc', 'close'],
];
function help() {
    const dialog = $('#action');
    const close = h('button', { type: 'button', class: 'main', on: { click: () => dialog.close() } }, 'Close');
    patch(dialog, [h('div', { key: 'help' }, h('h2', { id: 'action-title' }, 'Keys'), h('dl', {}, KEYS.map(([key, text]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, text)])), h('div', { class: 'buttons' }, close))]);
    dialog.showModal();
}
function step(by) {
    const items = [...document.querySelectorAll('main [data-item]')];
    const at = items.indexOf(document.activeElement);
    items[at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.max(0, Math.min(items.length - 1, at + by))]?.focus();
}
function search() {
    if (route.view !== 'board') {
        location.hash = href('board');
        arrive();
    }
    $('main input[type=search]')?.focus();
}
function key(event) {
    const target = event.target;
    const typing = target.matches('input, textarea, select') || document.querySelector('dialog[open]') !== null;
    if (event.ctrlKey || event.metaKey || event.altKey)
        return;
    if (event.key === 'Escape' && target.matches('input[type=search]')) {
        // Some browsers would empty it.
        event.preventDefault();
        return target.blur();
    }
    if (typing)
        return;
    const view = VIEWS[Number(event.key) - 1];
    if (view)
        location.hash = href(view[0]);
    else if (event.key === '/')
        search();
    else if (event.key === 'j')
        step(1);
    else if (event.key === 'k')
        step(-1);
    else if (event.key === 't')
        theme(true);
    else if (event.key === '?')
        help();
    else
        return;
    event.preventDefault();
}
// ---- light and dark
const THEMES = ['system', 'light', 'dark'];
function theme(next) {
    let chosen = localStorage.getItem('theme') ?? 'system';
    if (next) {
        chosen = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length] ?? 'system';
        localStorage.setItem('theme', chosen);
        say(`Colours: ${chosen}.`);
    }
    document.documentElement.dataset['theme'] = chosen;
}
// ---- all of it
async function main() {
    theme(false);
    const token = /^#token=(.+)$/.exec(location.hash)?.[1];
    if (token) {
        history.replaceState(null, '', href('now'));
        route = here();
        await enter(token);
    }
    window.addEventListener('hashchange', arrive);
    document.addEventListener('keydown', key);
    document.addEventListener('visibilitychange', () => document.hidden || refresh());
    $('#help').addEventListener('click', help);
    $('#theme').addEventListener('click', () => theme(true));
    start(show);
    arrive();
    follow((news) => {
        // Nobody reads what nobody sees; it is looked at when somebody comes back.
        if (news.kind === 'board')
            return document.hidden ? undefined : takeBoard(news.text);
        if (news.kind === 'news')
            return document.hidden ? undefined : awaitBoard();
        if (news.kind === 'away')
            setLine('away');
        else if (news.kind === 'trouble')
            setLine('trouble', news.text);
        else if (news.kind === 'open')
            setLine('live');
        if (!document.hidden && news.kind !== 'away')
            refresh();
    });
    // Bars run down and moments go by: every second for whoever works with the page, less often in a window beside others.
    let seconds = 0;
    window.setInterval(() => {
        seconds += 1;
        const runs = route.view === 'now' ? (known.board?.agents.length ?? 0) > 0 : ['issue', 'locks'].includes(route.view);
        if (document.hidden || !known.board || !runs)
            return;
        if (seconds % goodFor() === 0)
            paint();
    }, 1000);
}
void main();
