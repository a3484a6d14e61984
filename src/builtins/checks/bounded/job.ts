import type { Pattern } from '../regex/pattern.ts';

/** Jobs that hostile input can make slow, so they run in a worker thread that can be terminated. */
export interface Jobs {
  readonly match: { readonly pattern: Pattern; readonly text: string };
  readonly search: { readonly expression: string; readonly text: string };
  readonly schema: { readonly schema: string; readonly text: string };
}

export interface JobResults {
  readonly match: boolean;
  readonly search: SearchResult;
  readonly schema: SchemaResult;
}

export type JobKind = keyof Jobs;

export type SearchResult =
  /** JSON text, since the value may repeat one part a million times. */
  | { readonly found: string }
  /** The expression is valid but cannot be applied to this text. */
  | { readonly mismatch: string }
  | { readonly invalid: string };

/** The first differences, one sentence each, and the number of all. */
export interface SchemaResult {
  readonly violations: readonly string[];
  readonly count: number;
}

export type WorkerRequest = { readonly [K in JobKind]: { readonly kind: K; readonly job: Jobs[K] } }[JobKind];

export type WorkerReply<K extends JobKind = JobKind> =
  | { readonly status: 'ready' }
  | { readonly status: 'done'; readonly answer: JobResults[K] }
  | { readonly status: 'exceeded'; readonly exceeded: string }
  | { readonly status: 'failed'; readonly message: string };
