import type { Check } from '../check.ts';
import { contains, containsAny, fieldPresence } from './contains.ts';
import { bannedWords, contentExcludes } from './exclusion.ts';
import { maxLength, minLength } from './length.ts';
import { refusal } from './refusal.ts';
import { regex } from './regex.ts';
import { sentenceCount } from './sentences.ts';
import { cosineSimilarity } from './similarity.ts';
import { equals, levenshtein, startsWith } from './text-comparison.ts';

export const textChecks: readonly Check[] = [
  contains,
  containsAny,
  contentExcludes,
  bannedWords,
  regex,
  minLength,
  maxLength,
  sentenceCount,
  fieldPresence,
  cosineSimilarity,
  equals,
  startsWith,
  levenshtein,
  refusal,
];
