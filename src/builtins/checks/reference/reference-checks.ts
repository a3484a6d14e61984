import type { Check } from '../check.ts';
import { exactMatch, tokenF1 } from './answer-match.ts';
import { bleu } from './bleu.ts';
import { choice } from './choice.ts';
import { numberMatch } from './number-match.ts';
import { rouge } from './rouge.ts';

export const referenceChecks: readonly Check[] = [exactMatch, tokenF1, numberMatch, choice, rouge, bleu];
