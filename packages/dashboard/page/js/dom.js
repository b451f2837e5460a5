// Elements from descriptions. What is there already stays: focus, scrolling, selected text, what was typed and what was
// folded open survive every change of the data. Text is only ever set as text, so no field of an issue can become markup.
/** Describes an element. */
export function h(tag, props = {}, ...children) {
    const { key, on = {}, vars = {}, ...attrs } = props;
    return { tag, key, on, vars, attrs: attrs, children };
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
    const keyed = new Map();
    for (let at = parent.firstElementChild; at; at = at.nextElementSibling) {
        const key = known.get(at)?.key;
        if (key !== undefined)
            keyed.set(key, at);
    }
    const keys = new Set(wanted.map((want) => (typeof want === 'string' ? undefined : want.key)));
    const isStale = (node) => {
        const key = node instanceof Element ? known.get(node)?.key : undefined;
        return key === undefined || !keys.has(key);
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
/** What is there already for something that is wanted. */
function match(at, want, keyed) {
    if (typeof want === 'string')
        return at?.nodeType === Node.TEXT_NODE ? at : null;
    if (want.key !== undefined) {
        const found = keyed.get(want.key);
        keyed.delete(want.key);
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
    const attrs = before?.attrs ?? {};
    for (const name of Object.keys(attrs))
        if (!(name in want.attrs))
            element.removeAttribute(name);
    for (const [name, value] of Object.entries(want.attrs)) {
        if (TYPED.has(name))
            typed(element, name, value, attrs[name]);
        else if (attrs[name] !== value || !before)
            attribute(element, name, value);
    }
    for (const [name, value] of Object.entries(want.vars)) {
        if (before?.vars[name] !== value)
            element.style.setProperty(name, value);
    }
    listen(element, want.on);
    known.set(element, { want, key: want.key, on: want.on, attrs: want.attrs, vars: want.vars });
    children(element, want.children);
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
