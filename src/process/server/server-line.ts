import type { Json } from '../../base/json/json.ts';

/** What one line of a server's stdout is. Source: JSON-RPC 2.0, one object per line, read strictly. */
export type ServerLine =
  | { readonly kind: 'noise'; readonly why: string }
  | { readonly kind: 'request'; readonly method: string }
  /** Batches are refused; these are the ids they would have answered. */
  | { readonly kind: 'batch'; readonly ids: readonly number[] }
  | {
      readonly kind: 'reply';
      readonly id: number;
      readonly result?: Json;
      readonly error?: Json;
      /** The result of a reply that has an error as well; the error counts. */
      readonly ignoredResult?: Json;
      readonly versioned: boolean;
    }
  /** A reply with a known id that cannot be used; `text` is the beginning of its content. */
  | {
      readonly kind: 'malformed';
      readonly id: number;
      readonly why: string;
      readonly hint?: string;
      readonly text?: string;
      readonly problem?: ReplyProblem;
    }
  /** A reply that gives `id`, `result` or `error` twice; these are the ids that it names. */
  | { readonly kind: 'twice'; readonly ids: readonly number[]; readonly why: string; readonly hint: string }
  /** A reply without an id. */
  | { readonly kind: 'anonymous' };

/** What is wrong with a reply whose content could be read; absent where the content is not known. */
type ReplyProblem = 'id' | 'no_result' | 'error_type' | 'batch';

/** The first characters of a line, for messages. */
export function excerptOf(text: string): string {
  return text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)}…` : text;
}

const EXCERPT_CHARACTERS = 200;
