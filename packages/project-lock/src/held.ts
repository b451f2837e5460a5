// The lease that this tab holds, as the page sees it: what callers are given, and what has to be let go with it.

import type { ProjectLockError } from './errors.js';
import type { Turn } from './turn.js';
import type { ProjectLockLease } from './types.js';

export const LEASE_MS = 15_000;

export class Held {
  lease: ProjectLockLease;
  /** For how long a beat prolongs it. */
  ttl = LEASE_MS;
  /** The Web Lock, if the lease rests on it. */
  readonly turn: Turn | null;
  /** When it is over unless it is prolonged, by the monotonic clock of the page. */
  until: number;
  readonly #abort = new AbortController();

  constructor(lease: ProjectLockLease, turn: Turn | null, asked: number) {
    this.turn = turn;
    this.until = asked + this.ttl;
    this.lease = this.#signed(lease);
  }

  /** The lease with another end. What callers were given stays as it is. */
  extend(expiresAt: number, at: number): ProjectLockLease {
    this.until = at + this.ttl;
    this.lease = this.#signed({ ...this.lease, expiresAt });
    return this.lease;
  }

  /** Tells the work that goes on under the lease to stop. */
  lose(error: ProjectLockError): void {
    this.#abort.abort(error);
  }

  #signed(lease: ProjectLockLease): ProjectLockLease {
    return Object.freeze(Object.defineProperty(lease, 'signal', { value: this.#abort.signal }));
  }
}
