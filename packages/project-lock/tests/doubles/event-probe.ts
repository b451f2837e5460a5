// Writes down what listeners are told, in order.

import type { Events } from '../../src/events.js';
import type { ProjectLockEvent } from '../../src/types.js';

export class EventProbe {
  readonly events: ProjectLockEvent[] = [];

  constructor(events: Events) {
    events.subscribe((event) => this.events.push(event));
  }

  get types(): string[] {
    return this.events.map(({ type }) => type);
  }

  of(type: ProjectLockEvent['type']): ProjectLockEvent[] {
    return this.events.filter((event) => event.type === type);
  }
}
