import type { AgentaoSettings } from '../../config/foreign.ts';
import type { ForeignDialect } from '../foreign.ts';
import { toldNameOf } from './aliases.ts';
import { answerOf } from './answer.ts';
import { complete } from './complete.ts';
import { conclude } from './conclude.ts';
import { describe, pointsAt } from './describe.ts';
import { encode } from './encode.ts';
import { points } from './points.ts';
import { read } from './read.ts';
import { report } from './report.ts';
import { selects } from './select.ts';
import { settle } from './settle.ts';

/** Hooks written for Agentao (jin-bo/agentao): flat rules, a command or a static text each. */
export const agentao: ForeignDialect<AgentaoSettings> = {
  name: 'agentao',
  points,
  pace: 'judged_first',
  readsTranscript: true,
  toldName: toldNameOf,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: () => false,
  answer: answerOf,
  encode,
  read,
  conclude,
  // Every rule of an event sees the same payload.
  carry: ({ payload }) => payload,
  settle,
  report,
};
