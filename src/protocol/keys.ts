import { findNearest } from '../config/suggest.ts';
import type { Body } from './body.ts';
import type { Note } from './dialect.ts';

/** Remarks on members that a dialect does not know: near misses of a known key stand out. */
export function noteUnknownKeys(body: Body, known: readonly string[]): Note[] {
  const notes: Note[] = [];
  for (const { key } of body.members) {
    if (known.includes(key)) continue;
    const meant = findNearest(key, known);
    notes.push(
      meant === undefined
        ? { level: 'debug', message: `the reply's member "${key}" is unknown and ignored` }
        : {
            level: 'warn',
            message: `the reply's member "${key}" is unknown and ignored; "${meant}" was probably meant`,
          },
    );
  }
  return notes;
}

/** Whether a verdict key stands twice, or beside a key that differs from it in letter case only. */
export function isAmbiguous(body: Body, key: string): boolean {
  return body.members.filter((member) => member.key.toLowerCase() === key.toLowerCase()).length > 1;
}
