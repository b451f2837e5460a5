// The lease that this tab holds, as the page sees it: what callers are given, and what has to be let go with it.

import type { ProjectLockError } from './errors.js';
import type { Turn } from './turn.js';
import type { ProjectLockLease, ProjectLockSource } from './types.js';

export interface Granted {
  readonly leaseId: string;
  readonly source: ProjectLockSource;
  readonly fence: number;
  readonly expiresAt: number;
  readonly ttl: number;
  /** The Web Lock, if the lease rests on it. */
  readonly turn: Turn | null;
}

export class Held {
  lease: ProjectLockLease;
  ttl: number;
  readonly turn: Turn | null;
  readonly #abort = new AbortController();

  constructor({ leaseId, expiresAt, source, fence, ttl, turn }: Granted) {
    this.turn = turn;
    this.ttl = ttl;
    this.lease = this.#signed({ leaseId, expiresAt, source, fence });
  }

  /** The lease with another end. What callers were given stays as it is. */
  extend(expiresAt: number): ProjectLockLease {
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
