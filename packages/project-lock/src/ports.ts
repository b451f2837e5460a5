// Everything that the lock of a tab has from outside, so that tests can give it something else; and the states that it tells
// them of.

import type { Clock } from './clock.js';
import type { Link } from './link.js';
import type { LockManagerLike } from './turn.js';

/** Where the lock of a tab stands. Numbers, because only tests want to know their names. */
export const IDLE = 0;
export const REQUESTING_WEB = 1;
export const SWITCHING_FALLBACK = 2;
export const HOLDING_WEB = 3;
export const HOLDING_FALLBACK = 4;
export const RENEWING = 5;
export const BACKING_OFF = 6;
export const RELEASING = 7;
export const FAULTED = 8;

export interface Ports {
  /** Null where the page has no Web Locks. */
  readonly locks: () => LockManagerLike | null;
  readonly link: Link;
  readonly clock: Clock;
  readonly uuid: () => string;
  /** Of the project; empty for the one without a name. */
  readonly name: string;
  /** For tests: told of every state. */
  readonly enters?: (state: number) => void;
}
