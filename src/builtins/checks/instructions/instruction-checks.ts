import type { Check } from '../check.ts';
import { ifeval, ruleChecks } from './ifeval.ts';
import { language } from './language.ts';

/** Checks of what an answer was told to be like. */
export const instructionChecks: readonly Check[] = [...ruleChecks, ifeval, language];
