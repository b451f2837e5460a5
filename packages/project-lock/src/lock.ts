// The lock of one tab: what it holds, and what becomes of it. It never says that a lease is held without having asked the
// record, and never keeps quiet when one is lost.

import { aborted, Acquisition } from './acquisition.js';
import { failureOf, type ProjectLockError } from './errors.js';
import { Events } from './events.js';
import { LEASE_MS, type Held } from './held.js';
import type { Notice } from './keeper.js';
import type { Link } from './link.js';
import { FAULTED, HOLDING_FALLBACK, HOLDING_WEB, IDLE, RELEASING, RENEWING, type Ports } from './ports.js';
import { LONGEST_LEASE_MS } from './record.js';
import { isOver } from './reply.js';
import type { Ask } from './step.js';
import type {
  NamedProjectLock,
  ProjectLockAcquireOptions,
  ProjectLockEventListener,
  ProjectLockLease,
  ProjectLockReleaseOptions,
  ProjectLockRenewOptions,
  ProjectLockSubscription,
} from './types.js';

export interface Acquired {
  lease: ProjectLockLease;
  didFallback: boolean;
}

const again = () => failureOf({ type: 'refused', code: 'ALREADY_HELD' });
const over = () => failureOf({ type: 'refused', code: 'EXPIRED' });
/** Before another worker is started. */
const REVIVE_MS = 500;
/** So long a holder waits for its turn at the record: steps take milliseconds, and a lease seconds. */
const STEP_MS = 5000;
/** A worker that was not heard of for so many parts of a lease is asked for an answer, and soon. */
const SILENT_PARTS = 2;
const SILENT_STEP_MS = 500;

export class ProjectLock implements NamedProjectLock {
  readonly events = new Events();
  readonly #ports: Ports;
  #held: Held | null = null;
  /** Leases that were lost, or whose release or grant failed: this tab's still, but it does not hold them. */
  readonly #orphans = new Set<string>();
  #acquiring = false;
  #acquisition: Acquisition | null = null;
  #reviving = false;
  #stopWatch: () => void = () => undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
    ports.link.listen(
      (notice) => this.#noticed(notice),
      () => this.#revive(),
    );
  }

  async acquire(options: ProjectLockAcquireOptions = {}): Promise<Acquired> {
    try {
      // Looked at before anything is waited for: of two calls at once the second finds the first.
      if (this.#acquiring) throw again();
      return await this.#acquire(options);
    } catch (error) {
      this.events.emit({ type: 'acquire-failed', error: error as ProjectLockError });
      throw error;
    }
  }

  async #acquire(options: ProjectLockAcquireOptions): Promise<Acquired> {
    this.#acquiring = true;
    try {
      await this.#mayAcquire();
      // Looked at after a wait, so that a caller who goes away at once is seen: Chromium never lets go of a Web Lock request
      // that is aborted in the step that made it.
      if (options.signal?.aborted) throw aborted(options.signal);
      this.#acquisition = new Acquisition(this.#ports, this.events, this.#orphans, options);
      return this.#hold(await this.#acquisition.run());
    } catch (error) {
      if (!this.#held) this.#enter(FAULTED);
      throw error;
    } finally {
      this.#acquisition = null;
      this.#acquiring = false;
    }
  }

  async renew({ lease, extendByMs = LEASE_MS }: ProjectLockRenewOptions, patienceMs = STEP_MS): Promise<ProjectLockLease> {
    const { leaseId } = lease;
    const ttl = wholeLength(extendByMs);
    const held = this.#mine(leaseId);
    if (held) this.#enter(RENEWING);
    const asked = this.#ports.clock.monotonic();
    const ask = { type: 'renew', leaseId, ttl, mine: this.#all(), leftMs: this.#leftMs(held) } as const;
    const { reply } = await this.#ask(ask, patienceMs);
    if (reply.type === 'done' && held && this.#held === held) {
      held.ttl = ttl;
      return this.#renewed(held, reply.expiresAt, asked);
    }
    const error = failureOf(reply);
    if (held && isOver(reply)) this.#lose(held, error);
    if (held && this.#held === held) this.#holding(held);
    throw error;
  }

  async release({ lease, reason = 'completed' }: ProjectLockReleaseOptions): Promise<void> {
    const held = this.#mine(lease.leaseId);
    if (held) this.#enter(RELEASING);
    const { leaseId } = lease;
    const { reply } = await this.#ask({ type: 'release', leaseId, mine: this.#all(), leftMs: this.#leftMs(held) });
    if (reply.type === 'done') this.#orphans.delete(leaseId);
    if (reply.type === 'done' && !reply.over) return this.#released(held, lease, reason);
    // What was over has been given back too, but its writes were not protected to the end.
    const error = failureOf(reply);
    if (error.code !== 'lease-expired') this.#unreleased(held, lease, error);
    else if (held) this.#lose(held, error);
    throw error;
  }

  async with<T>(
    options: ProjectLockAcquireOptions | undefined,
    work: (lease: ProjectLockLease) => Promise<T>,
  ): Promise<T> {
    const { lease } = await this.acquire(options);
    let result: T;
    try {
      result = await work(lease);
    } catch (error) {
      // The error of the work is what the caller has to see; listeners see that of the release.
      await this.release({ lease, reason: 'aborted' }).catch(() => undefined);
      throw error;
    }
    await this.release({ lease });
    return result;
  }

  get name(): string {
    return this.#ports.name;
  }

  isHolder(): boolean {
    return (this.#leftMs(this.#held) ?? 0) > 0;
  }

  subscribe(listener: ProjectLockEventListener): ProjectLockSubscription {
    return this.events.subscribe(listener);
  }

  /** The page may stand still from here on: nobody shall wait for it to take its turn. A lease that it holds runs on. */
  pause(): void {
    this.#acquisition?.turn.pause();
  }

  /** The page may have stood still: it lines up again, and asks the record what is left of its lease. */
  resume(): void {
    this.#acquisition?.turn.resume();
    this.#revalidate();
  }

  #revalidate(patienceMs?: number): void {
    const held = this.#held;
    if (held) this.renew({ lease: held.lease, extendByMs: held.ttl }, patienceMs).catch(() => this.#revive());
  }

  /** Gives back the lease, or the one that is on its way, without waiting for the answer: the page goes away for good. */
  abandon(): void {
    const { leaseId } = this.#held?.lease ?? this.#acquisition ?? {};
    if (leaseId) void this.#ask({ type: 'release', leaseId, mine: [leaseId] });
  }

  #ask(ask: Ask, patienceMs = STEP_MS): ReturnType<Link['ask']> {
    return this.#ports.link.ask(ask, patienceMs);
  }

  #enter(state: number): void {
    this.#ports.enters?.(state);
  }

  #hold(held: Held): Acquired {
    this.#held = held;
    held.turn?.onLost(() => this.#stolen(held));
    this.#holding(held);
    this.events.emit({ type: 'acquired', lease: held.lease });
    return { lease: held.lease, didFallback: held.turn === null };
  }

  /** Whoever gets the Web Lock from here on takes this tab for dead, so it stops. */
  #stolen(held: Held): void {
    this.abandon();
    this.#lose(held, over());
  }

  /** Refuses what would wait for itself: a tab that holds the project cannot line up for it. */
  async #mayAcquire(): Promise<void> {
    const held = this.#held;
    if (!held) return;
    const { leaseId, fence = 0 } = held.lease;
    const { reply } = await this.#ask({ type: 'check', leaseId, fence, mine: this.#all(), leftMs: this.#leftMs(held) });
    if (reply.type === 'done') throw again();
    const error = failureOf(reply);
    if (error.code !== 'lease-expired') throw error;
    this.#lose(held, error);
  }

  #mine(leaseId: string): Held | null {
    return this.#held?.lease.leaseId === leaseId ? this.#held : null;
  }

  #leftMs(held: Held | null): number | undefined {
    return held ? held.until - this.#ports.clock.monotonic() : undefined;
  }

  #all(): string[] {
    return this.#held ? [this.#held.lease.leaseId, ...this.#orphans] : [...this.#orphans];
  }

  #noticed({ leaseId, reply }: Notice): void {
    const held = this.#mine(leaseId);
    if (!held) return;
    if (reply.type === 'done') this.#renewed(held, reply.expiresAt, this.#ports.clock.monotonic());
    else this.#lose(held, failureOf(reply));
  }

  #renewed(held: Held, expiresAt: number, at: number): ProjectLockLease {
    const lease = held.extend(expiresAt, at);
    this.#holding(held);
    this.events.emit({ type: 'renewed', lease });
    return lease;
  }

  /** Beats are heard of. If they are not, the worker is asked: if it is silent then too, it is replaced, in time. */
  #holding(held: Held): void {
    this.#stopWatch();
    this.#stopWatch = this.#ports.clock.after(held.ttl / SILENT_PARTS, () => this.#revalidate(SILENT_STEP_MS));
    this.#enter(held.turn ? HOLDING_WEB : HOLDING_FALLBACK);
  }

  /** Once for each lease, whoever finds out first. */
  #lose(held: Held, error: ProjectLockError): void {
    if (this.#held !== held) return;
    this.#orphans.add(held.lease.leaseId);
    this.#drop(held);
    held.lose(error);
    this.#enter(IDLE);
    this.events.emit({ type: 'expired', lease: held.lease, error });
  }

  #drop(held: Held): void {
    if (this.#held === held) {
      this.#held = null;
      this.#stopWatch();
    }
    held.turn?.leave();
  }

  #released(held: Held | null, lease: ProjectLockLease, reason: NonNullable<ProjectLockReleaseOptions['reason']>): void {
    if (held) this.#drop(held);
    this.#enter(IDLE);
    this.events.emit({ type: 'released', lease: held?.lease ?? lease, reason });
  }

  /** The record stays until its deadline, which nobody moves on any more. */
  #unreleased(held: Held | null, lease: ProjectLockLease, error: ProjectLockError): void {
    if (held) {
      this.#orphans.add(lease.leaseId);
      this.#drop(held);
      held.lose(error);
    }
    this.#enter(FAULTED);
    this.events.emit({ type: 'release-failed', lease, error });
  }

  /** The worker died, and the beats with it: another one goes on, unless there is nothing left to go on with. */
  #revive(): void {
    const [held, { clock }] = [this.#held, this.#ports];
    if (!held || this.#reviving) return;
    if (clock.monotonic() >= held.until) return this.#lose(held, over());
    this.#reviving = true;
    clock.after(REVIVE_MS, () => {
      this.#reviving = false;
      this.#revalidate();
    });
  }
}

/** A length that cannot be granted is a mistake of the caller, not a state of the lease: it is no `ProjectLockError`. */
function wholeLength(ms: number): number {
  const whole = Math.trunc(ms);
  if (whole >= 1 && whole <= LONGEST_LEASE_MS) return whole;
  throw new RangeError(`extendByMs must be from 1 to ${LONGEST_LEASE_MS}, not ${ms}`);
}
