import type { Fault } from '../../../base/errors.ts';
import type { Answer, Change } from './change.ts';

/** What the thread that writes is started with. */
export interface ThreadData {
  readonly file: string;
  /** The file that was opened, so that the thread does not write to one that has taken its place. */
  readonly identity: string;
  /** How long other processes may be in the way, in ms. */
  readonly waitMs: number;
}

/** Changes to make, or nothing: the end. */
export type ThreadRequest = readonly Change[] | null;

/** The answers of a list of changes, in its order. */
export interface ThreadDone {
  readonly answers: readonly Answer[];
}

/** What comes back: once that it is ready, then for each request its answers or why nothing was kept. */
export type ThreadReply =
  | { readonly status: 'ready' }
  | ({ readonly status: 'done' } & ThreadDone)
  | { readonly status: 'failed'; readonly fault: Fault };
