// Elements from descriptions. What is there already stays: focus, scrolling, selected text, what was typed and what was
// folded open survive every change of the data. Text is only ever set as text, so no field of an issue can become markup.

type Value = string | number | boolean | null | undefined;
type Handler = (event: never) => void;

export interface Node_ {
  readonly tag: string;
  readonly key: string | undefined;
  readonly attrs: Readonly<Record<string, Value>>;
  readonly on: Readonly<Record<string, Handler>>;
  readonly vars: Readonly<Record<string, string>>;
  readonly children: readonly Child[];
}

export type Child = Node_ | string | number | null | undefined | false | readonly Child[];

interface Props {
  readonly key?: string;
  readonly on?: Readonly<Record<string, Handler>>;
  /** Set one by one on the style: the server allows no style attributes. */
  readonly vars?: Readonly<Record<string, string>>;
  readonly [name: string]: unknown;
}

/** Nothing to set, the same one each time: a page is drawn before a browser has learnt to make such objects fast. */
const NOTHING: Readonly<Record<string, never>> = {};

/** Describes an element. */
export function h(tag: string, props: Props = NOTHING, ...children: Child[]): Node_ {
  if (props === NOTHING) return { tag, key: undefined, on: NOTHING, vars: NOTHING, attrs: NOTHING, children };
  const { key, on = NOTHING, vars = NOTHING, ...attrs } = props;
  return { tag, key, on, vars, attrs: attrs as Record<string, Value>, children };
}

/** Descriptions that are made anew only when what they are made of has changed: what was kept is not looked at again. */
export class Kept {
  #last = new Map<string, readonly [string, Child]>();
  #next = new Map<string, readonly [string, Child]>();

  /** The description with a name, which is made of what `of` says and of nothing else. */
  get(name: string, of: string, make: () => Child): Child {
    const last = this.#last.get(name);
    const kept = last?.[0] === of ? last : ([of, make()] as const);
    this.#next.set(name, kept);
    return kept[1];
  }

  /** All have been described: what was not among them is not kept. */
  done(): void {
    [this.#last, this.#next] = [this.#next, new Map()];
  }
}

const SVG = 'http://www.w3.org/2000/svg';
/** What whoever uses the page changes, so it is set as a property, and not while they are at it. */
const TYPED = new Set(['value', 'checked']);

interface Known {
  want: Node_;
  key: string | undefined;
  on: Readonly<Record<string, Handler>>;
  attrs: Readonly<Record<string, Value>>;
  vars: Readonly<Record<string, string>>;
}

const known = new WeakMap<Element, Known>();
const listening = new WeakMap<Element, Set<string>>();

/** Makes the children of an element what is described. */
export function patch(parent: Element, described: readonly Child[]): void {
  const focused = document.activeElement;
  children(parent, described);
  if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) {
    focused.focus({ preventScroll: true });
  }
}

function flat(described: readonly Child[], into: (Node_ | string)[] = []): (Node_ | string)[] {
  for (const child of described) {
    if (Array.isArray(child)) flat(child as readonly Child[], into);
    else if (typeof child === 'number') into.push(String(child));
    else if (child !== null && child !== undefined && child !== false && child !== '') into.push(child as Node_ | string);
  }
  return into;
}

function children(parent: Element, described: readonly Child[]): void {
  const wanted = flat(described);
  const keys = keysOf(wanted);
  const keyed = keys && keyedIn(parent);
  const isStale = (node: ChildNode) => {
    const key = node instanceof Element ? known.get(node)?.key : undefined;
    return key === undefined || !keys?.has(key);
  };
  let at: ChildNode | null = parent.firstChild;
  for (const want of wanted) {
    const found = match(at, want, keyed);
    // What is moved loses its selection and its scrolling: rather let what is in the way go.
    while (found && at && at !== found && isStale(at)) {
      const stale: ChildNode = at;
      at = at.nextSibling;
      stale.remove();
    }
    const node = found ?? make(parent, want);
    if (found && found === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
    if (typeof want === 'string') {
      if (node.nodeValue !== want) node.nodeValue = want;
    } else {
      update(node as Element, want);
    }
  }
  while (at) {
    const next: ChildNode | null = at.nextSibling;
    at.remove();
    at = next;
  }
}

/** The keys that are wanted; none where, as in most elements, nothing has one. */
function keysOf(wanted: readonly (Node_ | string)[]): Set<string> | null {
  let keys: Set<string> | null = null;
  for (const want of wanted) if (typeof want !== 'string' && want.key !== undefined) (keys ??= new Set()).add(want.key);
  return keys;
}

function keyedIn(parent: Element): Map<string, Element> {
  const keyed = new Map<string, Element>();
  for (let at = parent.firstElementChild; at; at = at.nextElementSibling) {
    const key = known.get(at)?.key;
    if (key !== undefined) keyed.set(key, at);
  }
  return keyed;
}

/** What is there already for something that is wanted. */
function match(at: ChildNode | null, want: Node_ | string, keyed: Map<string, Element> | null): ChildNode | null {
  if (typeof want === 'string') return at?.nodeType === Node.TEXT_NODE ? at : null;
  if (want.key !== undefined) {
    const found = keyed?.get(want.key);
    keyed?.delete(want.key);
    return found?.localName === want.tag ? found : null;
  }
  const fits = at instanceof Element && at.localName === want.tag && known.get(at)?.key === undefined;
  return fits ? at : null;
}

function make(parent: Element, want: Node_ | string): ChildNode {
  if (typeof want === 'string') return document.createTextNode(want);
  const svg = want.tag === 'svg' || (parent.namespaceURI === SVG && parent.localName !== 'foreignObject');
  return svg ? document.createElementNS(SVG, want.tag) : document.createElement(want.tag);
}

function update(element: Element, want: Node_): void {
  const before = known.get(element);
  // A description that was kept describes what is there.
  if (before?.want === want) return;
  const attrs = before?.attrs ?? NOTHING;
  if (attrs !== want.attrs) attributes(element, attrs, want.attrs, !before);
  if (want.vars !== NOTHING) {
    for (const [name, value] of Object.entries(want.vars)) {
      if (before?.vars[name] !== value) (element as HTMLElement).style.setProperty(name, value);
    }
  }
  if (want.on !== NOTHING) listen(element, want.on);
  known.set(element, { want, key: want.key, on: want.on, attrs: want.attrs, vars: want.vars });
  children(element, want.children);
}

function attributes(element: Element, before: Readonly<Record<string, Value>>, wanted: Readonly<Record<string, Value>>, isNew: boolean): void {
  for (const name in before) if (!(name in wanted)) element.removeAttribute(name);
  for (const name in wanted) {
    const value = wanted[name];
    if (TYPED.has(name)) typed(element, name, value, before[name]);
    else if (isNew || before[name] !== value) attribute(element, name, value);
  }
}

function attribute(element: Element, name: string, value: Value): void {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : String(value));
}

function typed(element: Element, name: string, value: Value, before: Value): void {
  // What was typed since stays.
  if (value === before) return;
  const target = element as unknown as Record<string, Value>;
  if (target[name] !== value) target[name] = value;
}

function listen(element: Element, on: Readonly<Record<string, Handler>>): void {
  const kinds = listening.get(element) ?? new Set<string>();
  listening.set(element, kinds);
  for (const kind of Object.keys(on)) {
    if (kinds.has(kind)) continue;
    kinds.add(kind);
    element.addEventListener(kind, (event) => known.get(element)?.on[kind]?.(event as never));
  }
}
