import type { AnswerDetails } from '../../contract/hook.ts';
import type { Blocked } from './exit-2.ts';
import type { ReplyObject } from './reply-object.ts';

/** A JSON reply with what is needed to read its verdict. */
export interface ParsedReply {
  readonly output: ReplyObject;
  /** The block by exit code 2, if any; no JSON member overrides it. */
  readonly blocked: Blocked | undefined;
  /** How the reply violates its schema, if it does; then only a denial or an abort in it counts. */
  readonly fault: string | undefined;
  readonly beside: Pick<AnswerDetails, 'metadata' | 'context'>;
}
