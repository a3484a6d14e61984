import type { KeptAnswers } from './kept-answers.ts';
import type { Marks } from './marks.ts';
import type { MemoKey } from './memo-key.ts';

/** What a gateway remembers of earlier calls: names by a secret key, and sealed texts. */
export interface Memo {
  /** Whether other machines have it too. */
  readonly isShared: boolean;
  readonly key: MemoKey;
  readonly marks: Marks;
  readonly answers: KeptAnswers;
  /** Never rejects; may be called again. */
  close(): Promise<void>;
}
