import type { Pattern } from '../regex/pattern.ts';

/** Work that hostile input can make take too long, so that it runs in a thread that can be ended. */
export interface Jobs {
  /** Looks for a pattern. */
  readonly match: { readonly pattern: Pattern; readonly text: string };
  /** Evaluates a JMESPath expression over a JSON text. */
  readonly search: { readonly expression: string; readonly text: string };
  /** Checks a JSON text against a JSON Schema, which is JSON text too. */
  readonly schema: { readonly schema: string; readonly text: string };
}

/** What each job gives. */
export interface JobResults {
  readonly match: boolean;
  readonly search: SearchResult;
  readonly schema: SchemaResult;
}

export type JobKind = keyof Jobs;

export type SearchResult =
  /** As JSON text: a value may hold one part a million times over. */
  | { readonly found: string }
  /** The expression is valid but cannot be applied to this text. */
  | { readonly mismatch: string }
  /** The expression is wrong by itself. */
  | { readonly invalid: string };

/** How the text differs from the schema, one sentence each: the first few, and how many there are. */
export interface SchemaResult {
  readonly violations: readonly string[];
  readonly count: number;
}

/** What is sent to the thread. */
export type WorkerRequest = { readonly [K in JobKind]: { readonly kind: K; readonly job: Jobs[K] } }[JobKind];

/** What the thread sends back; the first reply, `ready`, says that it accepts requests. */
export type WorkerReply<K extends JobKind = JobKind> =
  | { readonly status: 'ready' }
  | { readonly status: 'done'; readonly answer: JobResults[K] }
  | { readonly status: 'exceeded'; readonly exceeded: string }
  | { readonly status: 'failed'; readonly message: string };
