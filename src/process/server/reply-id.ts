import type { Member } from '../../base/json/scan.ts';
import { excerptOf, type ServerLine } from './server-line.ts';

/**
 * Refuses duplicate keys, in any letter case: JSON leaves open which of two counts. Undefined without any.
 */
export function findDuplicateKeys(text: string, members: readonly Member[]): ServerLine | undefined {
  const ids = members
    .filter(({ key }) => key.toLowerCase() === 'id')
    .map(({ start, end }) => parseId(text.slice(start, end)));
  const named = [...new Set(ids)].filter((id) => id !== undefined);
  const counted = ['result', 'error'].map((word) => ({
    word,
    count: members.filter(({ key }) => key.toLowerCase() === word).length,
  }));
  const { word } = [{ word: 'id', count: ids.length }, ...counted].find(({ count }) => count > 1) ?? {};
  if (word === undefined || named.length === 0) return undefined;
  const hint = 'Give `id`, and `result` or `error`, once each and in small letters.';
  return { kind: 'twice', ids: named, why: `the reply gives its \`${word}\` twice`, hint };
}

function parseId(text: string): number | undefined {
  return integerId(JSON.parse(text));
}

/** A reply whose `id` key has capital letters: malformed here, though some hosts accept it. */
export function readMiscasedId(text: string, members: readonly Member[]): ServerLine {
  const member = members.find(({ key }) => key.toLowerCase() === 'id');
  const meant = member && parseId(text.slice(member.start, member.end));
  if (member === undefined || meant === undefined) return { kind: 'noise', why: 'an id that is no integer' };
  const hint = 'Write `id` in small letters.';
  const why = `the reply gives its id as \`${member.key}\``;
  return { kind: 'malformed', id: meant, why, hint, problem: 'id' };
}

/** A reply whose `id` is text or a fraction: malformed where it names an integer, else noise. */
export function readMistypedId(id: unknown): ServerLine {
  const meant = integerId(id);
  if (meant === undefined) return { kind: 'noise', why: 'an id that is no integer' };
  const hint = 'Send the id back as the number it came as, not as text or a fraction.';
  return {
    kind: 'malformed',
    id: meant,
    why: `the reply’s id is ${excerptOf(JSON.stringify(id))}, not the number ${meant}`,
    hint,
    problem: 'id',
  };
}

/** The integer that an id names, however it is written. */
export function integerId(id: unknown): number | undefined {
  if (typeof id !== 'number' && (typeof id !== 'string' || id.trim() === '')) return undefined;
  const number = Math.trunc(Number(id));
  return Number.isSafeInteger(number) ? number : undefined;
}
