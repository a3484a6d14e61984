import type { PicoclawSettings } from '../../config/foreign.ts';
import type { ForeignDialect } from '../foreign.ts';
import { carry } from './carry.ts';
import { complete } from './complete.ts';
import { describe } from './describe.ts';
import { encode } from './encode.ts';
import { points, pointsAt } from './points.ts';
import { read } from './read.ts';
import { selects } from './select.ts';
import { settle } from './settle.ts';

/** Process hooks of PicoClaw. Source: hook-json-protocol.md of v0.2.8. */
export const picoclaw: ForeignDialect<PicoclawSettings> = {
  name: 'picoclaw',
  points,
  keepsPlace: true,
  pace: 'judged',
  readsTranscript: false,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: () => false,
  answer: () => undefined,
  encode,
  read,
  carry,
  settle,
};
