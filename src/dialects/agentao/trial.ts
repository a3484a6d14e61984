import type { Trial } from '../foreign-dialect.ts';
import { samplePayload } from '../payload-table.ts';
import { shapes } from './complete.ts';
import type { AgentaoSettings } from './config/settings.ts';
import { requirePoint } from './points.ts';

/** How rules of Agentao are tried. */
export const trial: Trial<AgentaoSettings> = {
  settingsAt: ({ matcher: _matcher, ...settings }, { point }) => ({ ...settings, event: point }),
  payloadAt: (point) => samplePayload(shapes[requirePoint(point)].own),
  consentAt: () => '',
  failsOpenBy: ['agentao.exit_nonzero', 'agentao.bad_json', 'agentao.timeout', 'agentao.spawn'],
  passesAt: (point) => ({
    silence: 'agentao.no_opinion',
    text: 'agentao.plain_text',
    ...(point === 'Stop' && { 'exit 2': 'agentao.exit_2' }),
  }),
};
