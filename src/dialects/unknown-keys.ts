import { findNearest } from '../text/suggest.ts';
import { type Body, excerpt } from './body.ts';
import type { Note } from './dialect.ts';

/** A note for each unknown member of a reply; those that resemble a known key are warnings. */
export function noteUnknownKeys(body: Body, known: readonly string[]): Note[] {
  const unknown = body.members.map(({ key }) => key).filter((key) => !known.includes(key));
  const notes = unknown.slice(0, MAX_NOTES).map((key) => noteUnknownKey(key, known));
  const omitted = unknown.length - notes.length;
  if (omitted > 0)
    notes.push({ level: 'debug', message: `the reply has ${omitted} further unknown members` });
  return notes;
}

/** The most notes on unknown members of one reply; the rest is only counted. */
const MAX_NOTES = 20;

function noteUnknownKey(key: string, known: readonly string[]): Note {
  const remark = `the reply's member "${excerpt(key)}" is unknown and ignored`;
  const meant = findNearest(key, known);
  return meant === undefined
    ? { level: 'debug', message: remark }
    : { level: 'warn', message: `${remark}; "${meant}" was probably meant` };
}

/** Whether the key occurs more than once in the reply, ignoring letter case. */
export function isAmbiguous(body: Body, key: string): boolean {
  return body.members.filter((member) => member.key.toLowerCase() === key.toLowerCase()).length > 1;
}
