import { findNearest } from '../yaml/suggest.ts';
import { type Body, excerpt } from './body.ts';
import type { Note } from './dialect.ts';

/** Remarks on members that a dialect does not know: near misses of a known key stand out. */
export function noteUnknownKeys(body: Body, known: readonly string[]): Note[] {
  const unknown = body.members.map(({ key }) => key).filter((key) => !known.includes(key));
  const notes = unknown.slice(0, MOST_TOLD).map((key) => noteUnknownKey(key, known));
  const untold = unknown.length - notes.length;
  if (untold > 0) notes.push({ level: 'debug', message: `the reply has ${untold} further unknown members` });
  return notes;
}

/** A reply may have as many members as fit into it; nobody reads more remarks than these. */
const MOST_TOLD = 20;

function noteUnknownKey(key: string, known: readonly string[]): Note {
  const remark = `the reply's member "${excerpt(key)}" is unknown and ignored`;
  const meant = findNearest(key, known);
  return meant === undefined
    ? { level: 'debug', message: remark }
    : { level: 'warn', message: `${remark}; "${meant}" was probably meant` };
}

/** Whether a verdict key stands twice, or beside a key that differs from it in letter case only. */
export function isAmbiguous(body: Body, key: string): boolean {
  return body.members.filter((member) => member.key.toLowerCase() === key.toLowerCase()).length > 1;
}
