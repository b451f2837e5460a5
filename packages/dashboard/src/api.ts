// Questions to the server, and what it answers.

import { setClock } from './time.js';

/** What the server refused, in its own words. */
export class Refused extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly status: number;

  constructor(status: number, code: string, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/** That nobody answered. */
export class Away extends Error {}

interface ErrorDocument {
  readonly error?: { readonly code?: string; readonly message?: string; readonly hint?: string };
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { cache: 'no-store', credentials: 'same-origin', ...init });
  } catch {
    throw new Away('the server does not answer');
  }
  setClock(response.headers.get('date'));
  if (response.ok || response.status === 304) return response;
  const document = (await response.json().catch(() => ({}))) as ErrorDocument;
  const { code = 'HTTP', message = `the server answered ${response.status}`, hint } = document.error ?? {};
  throw new Refused(response.status, code, message, hint);
}

async function read<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch {
    throw new Away('the answer was cut off');
  }
}

export async function get<T>(path: string): Promise<T> {
  return read<T>(await ask(path, {}));
}

/** A document, unless it is the one that has this tag. */
export async function getChanged<T>(path: string, tag: string | null): Promise<{ tag: string | null; document: T } | null> {
  const response = await ask(path, tag === null ? {} : { headers: { 'If-None-Match': tag } });
  if (response.status === 304) return null;
  return { tag: response.headers.get('etag'), document: await read<T>(response) };
}

export async function post<T>(path: string, body: object): Promise<T & { readonly warnings?: readonly string[] }> {
  const headers = { 'Content-Type': 'application/json' };
  return read(await ask(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}
