// What page and worker send each other. Only types: nothing of this is there at run time.

import type { Ask } from './step.js';
import type { Beating, Notice } from './keeper.js';
import type { Reply } from './reply.js';

export type Medium = 'opfs' | 'idb';

export interface Request {
  readonly id: number;
  readonly medium: Medium;
  readonly patienceMs: number;
  /** An ask, or a lease to beat for at once. */
  readonly ask: Ask | ({ readonly op: 'wake' } & Beating);
}

export type Message =
  | { readonly id: number; readonly reply: Reply | null; readonly medium: Medium }
  | { readonly notice: Notice };
