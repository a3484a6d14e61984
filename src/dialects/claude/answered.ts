import type { Beside } from '../../contract/hook.ts';
import type { Blocked } from './exit-2.ts';
import type { Output } from './output.ts';

/** An answer on its way to a verdict. */
export interface Answered {
  readonly output: Output;
  /** By exit code 2, which no JSON lifts. */
  readonly blocked: Blocked | undefined;
  /** What breaks the schema: of such an answer only what stops counts. */
  readonly misfit: string | undefined;
  readonly beside: Pick<Beside, 'metadata' | 'context'>;
}
