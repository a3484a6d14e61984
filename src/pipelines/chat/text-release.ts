import { hookContextOf, type TurnContext, toTurn } from '../turn-hooks.ts';

/**
 * Whether the text of a streamed answer is released only at its end, in one event: when an enforcing
 * guardrail, the output schema or a stop hook may still withhold the whole answer.
 */
export function isReleasedAtEnd(turn: TurnContext): boolean {
  const { stream, guardrails, outputSchema } = turn.chat.step;
  if (stream === undefined) return false;
  return (
    outputSchema !== undefined || guardrails.some(({ action }) => action === 'enforce') || isAskedAtEnd(turn)
  );
}

function isAskedAtEnd(turn: TurnContext): boolean {
  const { links } = turn.run;
  if (links.length === 0) return false;
  const hookContext = hookContextOf(turn);
  const about = { hook: 'turn', phase: 'stop', response: '', end: 'final_response' } as const;
  const event = { ...about, turn: toTurn(turn) };
  return links.some(({ group: { dialect, members } }) =>
    dialect.pointsAt(event).some((point) => {
      if (dialect.points[point]?.isFilter !== true) return false;
      const question = {
        point,
        payload: dialect.describe(point, event, hookContext),
        hookContext,
      };
      return members.some(
        ({ entry }) => dialect.selects(entry, question) && !dialect.isBackground(entry, point),
      );
    }),
  );
}
