import type { ForeignDialect } from '../foreign-dialect.ts';
import { complete } from './complete.ts';
import { conclude } from './conclude.ts';
import type { ClaudeSettings } from './config/settings.ts';
import { decode } from './decode.ts';
import { describe, toolNameForHooks } from './describe.ts';
import { encode } from './encode.ts';
import { toNeutralAnswer, toReminder } from './neutral-answer.ts';
import { points } from './points.ts';
import { pointsAt } from './points-at.ts';
import { selects } from './select.ts';

/** Hooks written for Claude Code. */
export const claude: ForeignDialect<ClaudeSettings> = {
  name: 'claude',
  points,
  callOrder: 'judged',
  readsTranscript: true,
  firesStartOnResume: true,
  countsForcedTurnsInARow: true,
  maxContextCharacters: 10_000,
  toolNameForHooks,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: ({ settings }) => settings.isAsync,
  staticAnswer: () => undefined,
  encode,
  decode,
  conclude,
  nextPayload: ({ payload }) => payload,
  toNeutralAnswer,
  wrapLateContext: toReminder,
};
