// Everything that the lock of a tab has from outside, so that tests can give it something else. Types only.

import type { Clock } from './clock.js';
import type { Link } from './link.js';
import type { LockManagerLike } from './turn.js';

/** Where the lock of a tab stands. */
export type LockState =
  | 'idle'
  | 'requesting_web'
  | 'switching_fallback'
  | 'holding_web'
  | 'holding_fallback'
  | 'renewing'
  | 'backing_off'
  | 'releasing'
  | 'faulted';

export interface Ports {
  /** Null where the page has no Web Locks. */
  readonly locks: () => LockManagerLike | null;
  readonly link: Link;
  readonly clock: Clock;
  readonly uuid: () => string;
  /** For tests: told of every state. */
  readonly enters?: (state: LockState) => void;
}
