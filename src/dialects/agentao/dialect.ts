import type { ForeignDialect } from '../foreign-dialect.ts';
import { complete } from './complete.ts';
import { conclude } from './conclude.ts';
import type { AgentaoSettings } from './config/settings.ts';
import { decode } from './decode.ts';
import { describe } from './describe.ts';
import { encode } from './encode.ts';
import { toNeutralAnswer } from './neutral-answer.ts';
import { points, pointsAt } from './points.ts';
import { report } from './report.ts';
import { selects, staticAnswerOf } from './select.ts';
import { toolNameForHooks } from './tool-names.ts';

/** The dialect of Agentao (jin-bo/agentao): each hook is a rule with a command or a static text. */
export const agentao: ForeignDialect<AgentaoSettings> = {
  name: 'agentao',
  points,
  callOrder: 'judged_first',
  readsTranscript: true,
  toolNameForHooks: toolNameForHooks,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: () => false,
  staticAnswer: staticAnswerOf,
  encode,
  decode,
  conclude,
  // Every rule of an event sees the same payload.
  nextPayload: ({ payload }) => payload,
  toNeutralAnswer,
  report,
};
