// Where one is, in the part of the address that is never sent: the view, and how it is filtered.

export interface Route {
  readonly view: string;
  /** What the view is of. */
  readonly id: string;
  readonly query: URLSearchParams;
}

export function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view = '', id = ''] = path.split('/');
  return { view: view || 'now', id: decode(id), query: new URLSearchParams(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function href(view: string, id = '', query: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== '');
  const search = new URLSearchParams(pairs).toString();
  return `#/${view}${id && `/${encodeURIComponent(id)}`}${search && `?${search}`}`;
}

export function here(): Route {
  return parse(location.hash);
}

/** Changes the filters of the view that is open, without a step for the back button. */
export function refine(change: Readonly<Record<string, string>>): void {
  const { view, id, query } = here();
  history.replaceState(null, '', href(view, id, { ...Object.fromEntries(query), ...change }));
  window.dispatchEvent(new Event('hashchange'));
}
