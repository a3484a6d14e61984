import type { Pattern } from '../regex/pattern.ts';

/** Work that a text from outside could drag out, so that it is done in a thread that can be ended. */
export interface Jobs {
  /** Looks for a pattern. */
  readonly match: { readonly pattern: Pattern; readonly text: string };
  /** Evaluates a JMESPath expression over a JSON text. */
  readonly search: { readonly expression: string; readonly text: string };
  /** Checks a JSON text against a JSON Schema, which is JSON text too. */
  readonly schema: { readonly schema: string; readonly text: string };
}

/** What each job gives. */
export interface Answers {
  readonly match: boolean;
  readonly search: SearchAnswer;
  readonly schema: SchemaAnswer;
}

export type Kind = keyof Jobs;

export type SearchAnswer =
  /** As JSON text: a value may hold one part a million times over. */
  | { readonly found: string }
  /** What stands in the text is nothing that the expression can work with. */
  | { readonly misfit: string }
  /** The expression is wrong by itself. */
  | { readonly wrong: string };

/** How the text differs from the schema, one sentence each: the first few, and how many there are. */
export interface SchemaAnswer {
  readonly violations: readonly string[];
  readonly count: number;
}

/** What is sent to the thread. */
export type Order = { readonly [K in Kind]: { readonly kind: K; readonly job: Jobs[K] } }[Kind];

/** What the thread sends back; the first one only says that it listens. */
export type Reply<K extends Kind = Kind> =
  | { readonly status: 'ready' }
  | { readonly status: 'done'; readonly answer: Answers[K] }
  | { readonly status: 'exceeded'; readonly exceeded: string }
  | { readonly status: 'failed'; readonly message: string };
