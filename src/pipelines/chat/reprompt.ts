import { completeMessage } from '../../calls/hooks/message.ts';
import { journalStep } from '../state/record.ts';
import type { StepOutcome } from '../state/step-outcome.ts';
import { turnRecord } from '../state/turn-record.ts';
import { notifyAnswered, type TurnContext, toTurn } from '../turn-hooks.ts';
import { roundsLeft } from './loop-control.ts';
import { dropContext } from './session-context.ts';
import { applyTurnRecord, firePhases } from './turn-start.ts';

/**
 * Restarts the turn loop after an answer, with a prompt of its own and the original system prompt, tools and
 * options: changes by the hooks of tool_list, request and loop hold for one pass only. Returns the outcome if
 * a hook stopped it.
 */
export async function reprompt(turn: TurnContext, path: string): Promise<StepOutcome | undefined> {
  const { run, chat, state } = turn;
  const { base } = state;
  // Source: docs/plugins.md, whose loop this is; `call_user` is what a chat here is configured with.
  const text = `[reengaged (fuel: ${roundsLeft(state)}/${chat.step.maxRounds}) via call_user. call_user(<message>) to end turn.]`;
  state.fallback = 'call_user';
  const before = toTurn(turn);
  state.model = undefined;
  const nextTurn = {
    ...toTurn(turn),
    prompt: text,
    system_prompt: base.system,
    tools: base.offered,
    options: base.options,
    messages: [...before.messages, completeMessage({ role: 'user', content: text })],
  };
  const promptLinks = run.links.filter(({ group }) => group.dialect.firesOnLoopPrompts === true);
  const record = await journalStep(run.journal, { name: `${path}/reprompt`, kind: turnRecord }, async () => {
    await notifyAnswered(turn);
    const phases = ['prompt', 'tool_list', 'request', 'loop'] as const;
    return await firePhases(turn, { turn: nextTurn, phases, promptLinks });
  });
  dropContext(run.session, record.taken ?? []);
  const stopped = applyTurnRecord(turn, record);
  if (stopped !== undefined) return stopped;
  state.modelPrompt = { prompt: record.prompt, original: text };
  // The model still sees withheld answers, unless a hook has replaced the conversation.
  if (record.isRewritten === true) state.messages.splice(0, state.messages.length, ...record.messages);
  else state.messages.push(completeMessage({ role: 'user', content: record.prompt }));
  return undefined;
}
