// Elements from descriptions. What is there already stays: focus, scrolling, selected text, what was typed and what was
// folded open survive every change of the data. Text is only ever set as text, so no field of an issue can become markup.
/** Nothing to set, the same one each time: a page is drawn before a browser has learnt to make such objects fast. */
const NOTHING = {};
/** Describes an element. */
export function h(tag, props = NOTHING, ...children) {
    if (props === NOTHING)
        return { tag, key: undefined, on: NOTHING, vars: NOTHING, attrs: NOTHING, children };
    const { key, on = NOTHING, vars = NOTHING, ...attrs } = props;
    return { tag, key, on, vars, attrs: attrs, children };
}
/** Descriptions that are made anew only when what they are made of has changed: what was kept is not looked at again. */
export class Kept {
    #last = new Map();
    #next = new Map();
    /** The description with a name, which is made of what `of` says and of nothing else. */
    get(name, of, make) {
        const last = this.#last.get(name);
        const kept = last?.[0] === of ? last : [of, make()];
        this.#next.set(name, kept);
        return kept[1];
    }
    /** All have been described: what was not among them is not kept. */
    done() {
        [this.#last, this.#next] = [this.#next, new Map()];
    }
}
const SVG = 'http://www.w3.org/2000/svg';
/** What whoever uses the page changes, so it is set as a property, and not while they are at it. */
const TYPED = new Set(['value', 'checked']);
const known = new WeakMap();
const listening = new WeakMap();
/** Makes the children of an element what is described. */
export function patch(parent, described) {
    const focused = document.activeElement;
    children(parent, described);
    if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) {
        focused.focus({ preventScroll: true });
    }
}
function flat(described, into = []) {
    for (const child of described) {
        if (Array.isArray(child))
            flat(child, into);
        else if (typeof child === 'number')
            into.push(String(child));
        else if (child !== null && child !== undefined && child !== false && child !== '')
            into.push(child);
    }
    return into;
}
function children(parent, described) {
    const wanted = flat(described);
    const keys = keysOf(wanted);
    const keyed = keys && keyedIn(parent);
    const isStale = (node) => {
        const key = node instanceof Element ? known.get(node)?.key : undefined;
        return key === undefined || !keys?.has(key);
    };
    let at = parent.firstChild;
    for (const want of wanted) {
        const found = match(at, want, keyed);
        // What is moved loses its selection and its scrolling: rather let what is in the way go.
        while (found && at && at !== found && isStale(at)) {
            const stale = at;
            at = at.nextSibling;
            stale.remove();
        }
        const node = found ?? make(parent, want);
        if (found && found === at)
            at = at.nextSibling;
        else
            parent.insertBefore(node, at);
        if (typeof want === 'string') {
            if (node.nodeValue !== want)
                node.nodeValue = want;
        }
        else {
            update(node, want);
        }
    }
    while (at) {
        const next = at.nextSibling;
        at.remove();
        at = next;
    }
}
/** The keys that are wanted; none where, as in most elements, nothing has one. */
function keysOf(wanted) {
    let keys = null;
    for (const want of wanted)
        if (typeof want !== 'string' && want.key !== undefined)
            (keys ??= new Set()).add(want.key);
    return keys;
}
function keyedIn(parent) {
    const keyed = new Map();
    for (let at = parent.firstElementChild; at; at = at.nextElementSibling) {
        const key = known.get(at)?.key;
        if (key !== undefined)
            keyed.set(key, at);
    }
    return keyed;
}
/** What is there already for something that is wanted. */
function match(at, want, keyed) {
    if (typeof want === 'string')
        return at?.nodeType === Node.TEXT_NODE ? at : null;
    if (want.key !== undefined) {
        const found = keyed?.get(want.key);
        keyed?.delete(want.key);
        return found?.localName === want.tag ? found : null;
    }
    const fits = at instanceof Element && at.localName === want.tag && known.get(at)?.key === undefined;
    return fits ? at : null;
}
function make(parent, want) {
    if (typeof want === 'string')
        return document.createTextNode(want);
    const svg = want.tag === 'svg' || (parent.namespaceURI === SVG && parent.localName !== 'foreignObject');
    return svg ? document.createElementNS(SVG, want.tag) : document.createElement(want.tag);
}
function update(element, want) {
    const before = known.get(element);
    // A description that was kept describes what is there.
    if (before?.want === want)
        return;
    const attrs = before?.attrs ?? NOTHING;
    if (attrs !== want.attrs)
        attributes(element, attrs, want.attrs, !before);
    if (want.vars !== NOTHING) {
        for (const [name, value] of Object.entries(want.vars)) {
            if (before?.vars[name] !== value)
                element.style.setProperty(name, value);
        }
    }
    if (want.on !== NOTHING)
        listen(element, want.on);
    known.set(element, { want, key: want.key, on: want.on, attrs: want.attrs, vars: want.vars });
    children(element, want.children);
}
function attributes(element, before, wanted, isNew) {
    for (const name in before)
        if (!(name in wanted))
            element.removeAttribute(name);
    for (const name in wanted) {
        const value = wanted[name];
        if (TYPED.has(name))
            typed(element, name, value, before[name]);
        else if (isNew || before[name] !== value)
            attribute(element, name, value);
    }
}
function attribute(element, name, value) {
    if (value === null || value === undefined || value === false)
        element.removeAttribute(name);
    else
        element.setAttribute(name, value === true ? '' : String(value));
}
function typed(element, name, value, before) {
    // What was typed since stays.
    if (value === before)
        return;
    const target = element;
    if (target[name] !== value)
        target[name] = value;
}
function listen(element, on) {
    const kinds = listening.get(element) ?? new Set();
    listening.set(element, kinds);
    for (const kind of Object.keys(on)) {
        if (kinds.has(kind))
            continue;
        kinds.add(kind);
        element.addEventListener(kind, (event) => known.get(element)?.on[kind]?.(event));
    }
}
