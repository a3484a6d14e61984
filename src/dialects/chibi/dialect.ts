import type { ForeignDialect } from '../foreign-dialect.ts';
import { complete } from './complete.ts';
import { conclude } from './conclude.ts';
import type { ChibiSettings } from './config/settings.ts';
import { decode } from './decode.ts';
import { describe } from './describe.ts';
import { encode } from './encode.ts';
import { toNeutralAnswer } from './neutral-answer.ts';
import { points } from './points.ts';
import { pointsAt } from './points-at.ts';
import { selects } from './select.ts';

/**
 * The dialect of chibi plugins: each gets the original payload; answers are composed by the rules of the
 * point.
 */
export const chibi: ForeignDialect<ChibiSettings> = {
  name: 'chibi',
  points,
  callOrder: 'one_by_one',
  readsTranscript: false,
  noApproverReason: 'no permission handler configured (fail-safe deny)',
  firesOnLoopPrompts: true,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: () => false,
  staticAnswer: () => undefined,
  encode,
  decode,
  conclude,
  nextPayload: ({ payload }) => payload,
  toNeutralAnswer,
};
