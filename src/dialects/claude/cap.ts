import { type Answer, answers } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { partsOf } from '../../json/scan.ts';
import type { Decoded } from '../dialect.ts';
import type { Asking } from './asking.ts';

/**
 * Overrides a handler that would make the turn go on once more than the cap in a row, or when no round is left; a cap of
 * 0 is none.
 */
export function capStops(asking: Asking, read: Decoded<Answer>): Decoded<Answer> {
  const { output } = read;
  if (!forcesOn(asking, output)) return read;
  const why = whyOverridden(asking);
  if (why === undefined) return read;
  const message = `${why}, and is not forced on again`;
  const metadata = Json.from({ ...partsOf(output.metadata), warnings: [message] });
  return { output: answers.allow({ metadata }), notes: [...read.notes, { level: 'warn', message }] };
}

function whyOverridden({ seat, question: { scene } }: Asking): string | undefined {
  const { stopCap } = seat.settings;
  if (stopCap > 0 && scene.stops >= stopCap) {
    return `the turn has gone on ${stopCap} times in a row after its answer`;
  }
  return scene.fuel !== null && scene.fuel.remaining <= 0 ? 'the turn has no round left' : undefined;
}

function forcesOn({ rule, seat }: Asking, answer: Answer): boolean {
  const isStop = rule.block === 'follow_up' && rule.takesDecision === true && !seat.settings.isAsync;
  const hasText = answer.verdict === 'modify' || (answer.verdict === 'allow' && answer.context !== undefined);
  return isStop && hasText;
}
