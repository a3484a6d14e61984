import type { Trial } from '../foreign-dialect.ts';
import { samplePayload } from '../payload-table.ts';
import { isMethod, methodTables } from './complete.ts';
import type { PicoclawSettings } from './config/settings.ts';

export const trial: Trial<PicoclawSettings> = {
  settingsAt: (settings, { timeoutMs, greetingMs }) => ({
    ...settings,
    interceptorTimeoutMs: timeoutMs,
    approvalTimeoutMs: timeoutMs,
    helloTimeoutMs: greetingMs,
  }),
  payloadAt: (point) => ({
    ...samplePayload(isMethod(point) ? methodTables[point] : {}),
    ...(point === 'after_llm' && { response: { content: 'sample' } }),
    ...(point === 'after_tool' && { result: { for_llm: 'sample' } }),
  }),
  consentAt: (point) => (point === 'approve_tool' ? '{"approved": true}' : '{"action": "continue"}'),
  greeting: '{"ok": true}',
  failsOpenBy: [
    'picoclaw.timeout',
    'picoclaw.rpc_error',
    'picoclaw.dead',
    'picoclaw.bad_result',
    'picoclaw.unknown_action',
    'picoclaw.no_action',
  ],
  passesAt: () => ({}),
};
