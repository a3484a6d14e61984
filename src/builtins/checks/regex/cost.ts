import { estimateCost, maskLiterals } from '../../../base/text/pattern-cost.ts';
import type { Pattern } from './pattern.ts';

/** Whether the pattern has no groups, and cannot take long on the text. */
export function isQuick({ source, flags }: Pattern, text: string): boolean {
  return !maskLiterals(source).includes('(') && estimateCost(source, flags)(text.length);
}
