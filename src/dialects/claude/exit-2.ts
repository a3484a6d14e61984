import type { ProcessReply } from '../../contract/exchange.ts';
import type { Note } from '../dialect.ts';
import type { EventRule } from './points.ts';

/** A block by exit code 2. */
export interface Blocked {
  readonly message: string;
  /** Whether stderr says that a file cannot be opened: the script may be missing. */
  readonly mentionsUnopenedFile: boolean;
}

/** The block of a process that exited with code 2: its message is stderr. */
export function readExit2({ stderr }: ProcessReply): Blocked {
  const text = stderr.trim();
  const mentionsUnopenedFile = /can(?:'t|not) open/i.test(text);
  return { message: mentionsUnopenedFile ? `${text} (a file cannot be opened)` : text, mentionsUnopenedFile };
}

/**
 * The warnings for exit code 2: stderr where it blocks nothing, and a hint where the script may be missing.
 */
export function noteExit2({ block }: EventRule, blocked: Blocked | undefined): readonly Note[] {
  if (blocked === undefined) return [];
  if (block === 'none') return blocked.message === '' ? [] : [{ level: 'warn', message: blocked.message }];
  return blocked.mentionsUnopenedFile ? [{ level: 'warn', message: missingScriptWarning }] : [];
}

const missingScriptWarning =
  'it exited with code 2, which blocks, and its stderr says that a file cannot be opened: an interpreter whose script is missing ends in the same way';
