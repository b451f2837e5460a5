// Questions to the server, and what it answers.
import { setClock } from './time.js';
/** What the server refused, in its own words. */
export class Refused extends Error {
    code;
    hint;
    status;
    constructor(status, code, message, hint) {
        super(message);
        this.status = status;
        this.code = code;
        this.hint = hint;
    }
}
/** That nobody answered. */
export class Away extends Error {
}
async function ask(path, init) {
    let response;
    try {
        response = await fetch(path, { cache: 'no-store', credentials: 'same-origin', ...init });
    }
    catch {
        throw new Away('the server does not answer');
    }
    setClock(response.headers.get('date'));
    if (response.ok || response.status === 304)
        return response;
    const document = (await response.json().catch(() => ({})));
    const { code = 'HTTP', message = `the server answered ${response.status}`, hint } = document.error ?? {};
    throw new Refused(response.status, code, message, hint);
}
async function read(response) {
    try {
        return (await response.json());
    }
    catch {
        throw new Away('the answer was cut off');
    }
}
export async function get(path) {
    return read(await ask(path, {}));
}
/** A document, unless it is the one that has this tag. */
export async function getChanged(path, tag) {
    const response = await ask(path, tag === null ? {} : { headers: { 'If-None-Match': tag } });
    if (response.status === 304)
        return null;
    return { tag: response.headers.get('etag'), document: await read(response) };
}
export async function post(path, body) {
    const headers = { 'Content-Type': 'application/json' };
    return read(await ask(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}
