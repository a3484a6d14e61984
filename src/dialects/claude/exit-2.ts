import type { ProcessReply } from '../../transport/transport.ts';
import type { Note } from '../dialect.ts';
import type { EventRule } from './points.ts';

/** A block by exit code 2. */
export interface Blocked {
  readonly message: string;
  /** Whether an interpreter may have ended so because its script is missing. */
  readonly isUnopened: boolean;
}

/** The block of a process that exited with code 2: its message is stderr. */
export function readExit2({ stderr }: ProcessReply): Blocked {
  const text = stderr.trim();
  const isUnopened = /can(?:'t|not) open/i.test(text);
  return { message: isUnopened ? `${text} (a file cannot be opened)` : text, isUnopened };
}

/** Where exit code 2 stops nothing, stderr is for the user. */
export function notesOn({ block }: EventRule, blocked: Blocked | undefined): readonly Note[] {
  if (blocked === undefined) return [];
  if (block === 'none') return blocked.message === '' ? [] : [{ level: 'warn', message: blocked.message }];
  return blocked.isUnopened ? [{ level: 'warn', message: trap }] : [];
}

const trap =
  'it exited with code 2, which blocks, and its stderr says that a file cannot be opened: an interpreter whose script is missing ends in the same way';
