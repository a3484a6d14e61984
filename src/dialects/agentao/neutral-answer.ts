import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import { isObject } from '../../json/json.ts';
import { malformed } from '../body.ts';
import type { Question } from '../foreign-dialect.ts';

/** The composed answer in neutral form, each context text wrapped as Agentao does. Throws REPLY_MALFORMED. */
export function toNeutralAnswer(_event: HookEvent, { point }: Question, answer: Answer): Answer {
  const wrap = wrappers[point] ?? wrapReminder;
  const { context } = answer;
  const wrapped = context === undefined ? answer : { ...answer, context: context.map(wrap) };
  return point === 'Stop' && wrapped.verdict === 'modify' ? toForcedTurn(wrapped) : wrapped;
}

const wrappers: Readonly<Record<string, (text: string) => string>> = {
  UserPromptSubmit: (text) => `<user-prompt-submit-hook>\n${text}\n</user-prompt-submit-hook>`,
  Stop: (text) => `<stop-hook>\n${text}\n</stop-hook>`,
};

function wrapReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

function toForcedTurn(answer: Answer & { readonly verdict: 'modify' }): Answer {
  const { value } = answer.replace;
  const followUp = isObject(value) ? value['follow_up'] : undefined;
  if (typeof followUp !== 'string') throw malformed('a forced turn has no text to go on with');
  const follow_up = `<system-reminder>Stop hook injected this</system-reminder>\n${followUp}`;
  return { ...answers.modify({ follow_up }), reason: answer.reason, metadata: answer.metadata };
}
