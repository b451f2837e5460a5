// What page and worker send each other. Only types: nothing of this is there at run time.

import type { Notice } from './keeper.js';
import type { Reply } from './reply.js';
import type { Ask } from './step.js';

export type Medium = 'opfs' | 'idb';

export interface Request {
  readonly id: number;
  /** Of the project; empty for the one without a name. */
  readonly name: string;
  readonly medium: Medium;
  readonly patienceMs: number;
  readonly ask: Ask;
}

/** A reply, with the medium that is used. */
export interface Answer {
  readonly reply: Reply;
  readonly medium: Medium;
}

export type Message = ({ readonly id: number } & Answer) | { readonly notice: Notice };
