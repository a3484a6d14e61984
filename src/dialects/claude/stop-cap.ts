import { type Answer, answers } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { membersOf } from '../../json/scan.ts';
import type { Decoded } from '../dialect.ts';
import type { HookQuestion } from './hook-question.ts';

/**
 * Turns a forced continuation into an allow when the stop cap is reached or no round is left; a cap of 0 is
 * no cap.
 */
export function applyStopCap(asked: HookQuestion, read: Decoded<Answer>): Decoded<Answer> {
  const { output } = read;
  if (!continuesTurn(asked, output)) return read;
  const why = whyOverridden(asked);
  if (why === undefined) return read;
  const message = `${why}, and is not forced on again`;
  const metadata = Json.from({ ...membersOf(output.metadata), warnings: [message] });
  return { output: answers.allow({ metadata }), notes: [...read.notes, { level: 'warn', message }] };
}

function whyOverridden({ entry, question: { hookContext } }: HookQuestion): string | undefined {
  const { stopCap } = entry.settings;
  if (stopCap > 0 && hookContext.forcedTurns >= stopCap) {
    return `the turn has gone on ${stopCap} times in a row after its answer`;
  }
  return hookContext.fuel !== null && hookContext.fuel.remaining <= 0
    ? 'the turn has no round left'
    : undefined;
}

function continuesTurn({ rule, entry }: HookQuestion, answer: Answer): boolean {
  const isStop = rule.block === 'follow_up' && rule.takesDecision === true && !entry.settings.isAsync;
  const hasText = answer.verdict === 'modify' || (answer.verdict === 'allow' && answer.context !== undefined);
  return isStop && hasText;
}
