import type { ForeignDialect } from '../foreign-dialect.ts';
import { complete } from './complete.ts';
import type { PicoclawSettings } from './config/settings.ts';
import { decode } from './decode.ts';
import { describe } from './describe.ts';
import { encode, nextPayload } from './encode.ts';
import { handshakeMessage, readHandshake } from './handshake.ts';
import { toNeutralAnswer } from './neutral-answer.ts';
import { points, pointsAt } from './points.ts';
import { selects } from './select.ts';

/** Process hooks of PicoClaw. Source: hook-json-protocol.md of v0.2.8. */
export const picoclaw: ForeignDialect<PicoclawSettings> = {
  name: 'picoclaw',
  points,
  keepsFileOrder: true,
  callOrder: 'one_by_one',
  readsTranscript: false,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: () => false,
  staticAnswer: () => undefined,
  encode,
  decode,
  nextPayload,
  handshake: (entry) => ({
    message: handshakeMessage(entry),
    read: (reply) => readHandshake(entry, reply),
  }),
  toNeutralAnswer,
};
