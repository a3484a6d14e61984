import type { ChibiSettings } from '../../config/foreign.ts';
import type { ForeignDialect } from '../foreign.ts';
import { complete } from './complete.ts';
import { conclude } from './conclude.ts';
import { describe } from './describe.ts';
import { encode } from './encode.ts';
import { points } from './points.ts';
import { pointsAt } from './points-at.ts';
import { read } from './read.ts';
import { selects } from './select.ts';
import { settle } from './settle.ts';
import { tool } from './tool.ts';

/** Plugins written for chibi: each sees the event as it was, and what they say is put together by their point. */
export const chibi: ForeignDialect<ChibiSettings> = {
  name: 'chibi',
  points,
  pace: 'one_by_one',
  readsTranscript: false,
  unasked: 'no permission handler configured (fail-safe deny)',
  hearsOwnPrompts: true,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: () => false,
  answer: () => undefined,
  encode,
  read,
  conclude,
  carry: ({ payload }) => payload,
  settle,
  tool,
};
