import type { ClaudeSettings } from '../../config/foreign.ts';
import type { ForeignDialect } from '../foreign.ts';
import { complete } from './complete.ts';
import { conclude } from './conclude.ts';
import { describe, pointsAt, toldName } from './describe.ts';
import { encode } from './encode.ts';
import { points } from './points.ts';
import { read } from './read.ts';
import { selects } from './select.ts';
import { settle, toReminder } from './settle.ts';

/** Hooks written for Claude Code. */
export const claude: ForeignDialect<ClaudeSettings> = {
  name: 'claude',
  points,
  pace: 'judged',
  readsTranscript: true,
  hearsResume: true,
  forcesInARow: true,
  contextLimit: 10_000,
  toldName,
  pointsAt,
  describe,
  complete,
  selects,
  isBackground: ({ settings }) => settings.isAsync,
  answer: () => undefined,
  encode,
  read,
  conclude,
  carry: ({ payload }) => payload,
  settle,
  remind: toReminder,
};
