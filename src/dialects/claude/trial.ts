import type { Trial } from '../foreign-dialect.ts';
import { samplePayload } from '../payload-table.ts';
import { fields } from './complete.ts';
import type { ClaudeSettings } from './config/settings.ts';
import { eventRules } from './points.ts';

export const trial: Trial<ClaudeSettings> = {
  settingsAt: (
    { matcher: _matcher, condition: _condition, pluginData: _folder, ...settings },
    { point },
  ) => ({
    ...settings,
    event: point,
  }),
  payloadAt: (point) => samplePayload(fields[point] ?? {}),
  consentAt: (point) => consents[point] ?? '',
  failsOpenBy: [
    'claude.exit_other',
    'claude.bad_json',
    'claude.bad_schema',
    'claude.text_before_json',
    'claude.timeout',
    'claude.spawn',
    'claude.http_error',
  ],
  passesAt: (point) => ({
    silence: 'claude.no_opinion',
    text: 'claude.plain_text',
    ...(passesExit2.has(eventRules[point]?.block ?? 'none') && { 'exit 2': 'claude.exit_2' }),
  }),
};

const passesExit2: ReadonlySet<string> = new Set(['beside', 'follow_up', 'decline', 'none']);

/** The output that approves at points where empty output does not. */
const consents: Readonly<Record<string, string>> = {
  PermissionRequest:
    '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}',
  WorktreeCreate: '/worktree',
};
