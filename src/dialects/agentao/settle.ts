import { type Answer, answers, type HookEvent } from '../../contract/hook.ts';
import { isObject } from '../../json/json.ts';
import { malformed } from '../body.ts';
import type { Question } from '../foreign.ts';

/** The composed answer as the pipeline takes it: every text for the model in the form that Agentao gives it. */
export function settle(_event: HookEvent, { point }: Question, answer: Answer): Answer {
  const wrap = wrappers[point] ?? remind;
  const { context } = answer;
  const settled = context === undefined ? answer : { ...answer, context: context.map(wrap) };
  return point === 'Stop' && settled.verdict === 'modify' ? settleForce(settled) : settled;
}

const wrappers: Readonly<Record<string, (text: string) => string>> = {
  UserPromptSubmit: (text) => `<user-prompt-submit-hook>\n${text}\n</user-prompt-submit-hook>`,
  Stop: (text) => `<stop-hook>\n${text}\n</stop-hook>`,
};

function remind(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

function settleForce(answer: Answer & { readonly verdict: 'modify' }): Answer {
  const { value } = answer.replace;
  const followUp = isObject(value) ? value['follow_up'] : undefined;
  if (typeof followUp !== 'string') throw malformed('a forced turn has no text to go on with');
  const follow_up = `<system-reminder>Stop hook injected this</system-reminder>\n${followUp}`;
  return { ...answers.modify({ follow_up }), reason: answer.reason, metadata: answer.metadata };
}
