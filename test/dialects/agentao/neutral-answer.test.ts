import { expect, test } from 'vitest';
import { answers, type HookEvent } from '../../../src/contract/hook.ts';
import type { Turn } from '../../../src/contract/turn.ts';
import { agentao } from '../../../src/dialects/agentao/dialect.ts';
import { questionAt, say } from './asking.ts';

const turn: Turn = {
  prompt: 'hello',
  system_prompt: '',
  messages: [],
  tools: [],
  provider_id: 'p',
  model: 'm',
  options: {},
};
const stopEvent: HookEvent = { hook: 'turn', phase: 'stop', turn, response: 'done', end: 'final_response' };

const forms = [
  {
    cites: 'AO-8-06',
    point: 'UserPromptSubmit',
    text: '<user-prompt-submit-hook>\na\n</user-prompt-submit-hook>',
  },
  { cites: 'AO-8-13', point: 'Stop', text: '<stop-hook>\na\n</stop-hook>' },
  { cites: 'AO-3-04@oneshot', point: 'SessionStart', text: '<system-reminder>\na\n</system-reminder>' },
];

test.each(forms.map((row) => ({ ...row, title: `${row.point} [${row.cites}]` })))(
  'a context of $title',
  ({ point, text }) => {
    const settled = agentao.toNeutralAnswer(stopEvent, questionAt(point), answers.allow({ context: ['a'] }));
    expect(settled.context).toEqual([text]);
  },
);

test('a forced turn continues with a reminder [AO-8-09]', () => {
  const settled = agentao.toNeutralAnswer(
    stopEvent,
    questionAt('Stop'),
    answers.modify({ follow_up: 'more' }),
  );
  expect(say(settled)).toBe(
    'modify "" {"follow_up":"<system-reminder>Stop hook injected this</system-reminder>\\nmore"}',
  );
});
