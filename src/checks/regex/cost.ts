import { readCost, withoutLetters } from '../../text/pattern-cost.ts';
import type { Pattern } from './pattern.ts';

/** Whether the pattern has no groups, and cannot take long on the text. */
export function isQuick({ source, flags }: Pattern, text: string): boolean {
  return !withoutLetters(source).includes('(') && readCost(source, flags)(text.length);
}
