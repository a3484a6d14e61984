import { toFault } from '../../base/errors.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { createHookContext } from '../../contract/turn.ts';
import { isCancelledAnswer } from '../capability/cancellation.ts';
import type { Group } from './group.ts';
import type { HookChain } from './hook-chain.ts';
import { resolveQuestion } from './hook-question.ts';
import type { ForeignLink, GateOptions } from './link.ts';

/**
 * Passes the event through each of the dialect's points that it reaches, in the dialect's order. Never
 * rejects.
 */
export async function passGroup(
  { group }: ForeignLink,
  chain: HookChain,
  options: GateOptions,
): Promise<void> {
  for (const point of group.pointsAt(chain.event)) {
    try {
      await passPoint(group, { point, chain, options });
    } catch (thrown) {
      const error = toFault(thrown);
      const reason = `the hooks of ${point} could not be asked: ${error.message}`;
      group.warn(group.dialect.name, reason);
      chain.stop({ hook: null, dialect: group.dialect.name }, answers.deny(reason, { error }));
    }
  }
}

interface PointOptions {
  readonly point: string;
  readonly chain: HookChain;
  readonly options: GateOptions;
}

async function passPoint(group: Group, { point, chain, options }: PointOptions): Promise<void> {
  const { dialect } = group;
  const { event } = chain;
  const { call, signal, hookContext: outerContext = createHookContext(call), onAnswer, onHear } = options;
  const hookContext = {
    ...outerContext,
    forcedTurns: outerContext.forcedTurnsByDialect?.[dialect.name] ?? outerContext.forcedTurns,
  };
  const isAsked = dialect.points[point]?.isFilter === true;
  if (isAsked ? chain.isStopped : options.filtersOnly === true) return;
  const payload = dialect.describe(point, event, hookContext);
  const { hook: kind, phase } = event;
  const hookCall = { point, payload, hookContext, call, kind, phase, signal, onAnswer, onHear };
  if (!isAsked) {
    await group.notify(hookCall);
    return;
  }
  const { hook, answer } = await group.ask(hookCall);
  await takeGroupAnswer(chain, { group, hookCall, hook, answer }, options);
}

interface GroupAnswer {
  readonly group: Group;
  readonly hookCall: Parameters<Group['ask']>[0];
  readonly hook: string | null;
  readonly answer: Answer;
}

/**
 * Applies the group's answer to the chain. An answer that does not fit the event becomes a denial of its
 * hook.
 */
async function takeGroupAnswer(
  chain: HookChain,
  { group, hookCall, hook, answer }: GroupAnswer,
  options: GateOptions,
): Promise<void> {
  const { dialect } = group;
  const by = { hook, dialect: dialect.name, isApproval: hook !== null };
  if (isCancelledAnswer(answer)) {
    chain.stop(by, answer);
    return;
  }
  try {
    const pipelineAnswer = dialect.toNeutralAnswer(chain.event, hookCall, answer);
    if (pipelineAnswer.verdict === 'allow' || pipelineAnswer.verdict === 'modify') {
      chain.takeAnswer(by, pipelineAnswer, options.check);
    } else if (pipelineAnswer.verdict === 'ask') {
      const { replace, reason, metadata } = pipelineAnswer;
      if (replace !== undefined)
        chain.takeAnswer(by, { verdict: 'modify', replace, reason, metadata }, options.check);
      await resolveQuestion(chain, { by, answer: pipelineAnswer }, options);
    } else {
      chain.stop(by, pipelineAnswer);
    }
  } catch (thrown) {
    const error = toFault(thrown);
    const reason = `hook "${hook ?? dialect.name}" gave no verdict: ${error.message}`;
    group.warn(hook ?? dialect.name, reason);
    chain.stop(by, answers.deny(reason, { error }));
  }
}
