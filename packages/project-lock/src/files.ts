// A store of two files that are only touched inside an exclusive section. Which file is written first is what makes a
// crash between two calls harmless; how a file is reached is its owner's business.

import { during, type Store, type Work } from './store.js';
import type { Texts, Written } from './record.js';

export interface TextFile {
  read(): Promise<string | null>;
  write(text: string): Promise<void>;
  delete(): Promise<void>;
}

/** Entered by one tab at a time. */
export interface Section {
  readonly record: TextFile;
  readonly beside: Omit<TextFile, 'delete'>;
  /** There was no record when the section was asked for; false if nobody looked. */
  readonly absent: boolean;
  /** `stays`: this tab may be back at once. */
  leave(stays: boolean): void;
}

/** `looks`: whether to see, on the way in, if there is a record. */
export type Enter = (patienceMs: number, looks: boolean) => Promise<Section>;

export class FileStore implements Store {
  readonly #enter: Enter;

  constructor(enter: Enter) {
    this.#enter = enter;
  }

  async run(patienceMs: number, work: Work): Promise<void> {
    const section = await during('open', () => this.#enter(patienceMs, work.isFirst));
    let stays = false;
    try {
      const before = await during('read', () => read(section, work));
      const taken = work.step(before);
      const after = taken.write;
      if (after) await during('write', () => write(section, before, after));
      stays = work.isFirst && taken.outcome.type === 'done';
      work.done(taken);
    } finally {
      section.leave(stays);
    }
  }
}

async function read(section: Section, work: Work): Promise<Texts> {
  const beside = await section.beside.read();
  return { beside, record: work.needsRecord(beside, section.absent) ? await section.record.read() : undefined };
}

/** A fence is kept before the record that uses it, and a record is removed before its copy is. */
async function write({ record, beside }: Section, before: Texts, after: Written): Promise<void> {
  if (after.record === null && before.record !== null) await record.delete();
  await beside.write(after.beside);
  if (after.record !== null) await record.write(after.record);
}
